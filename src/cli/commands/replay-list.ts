import type { Command } from "commander";
import type { ListedEpisode } from "../../replay/show/index.js";

export function define(command: Command): void {
  command
    .argument("[dir]", "folder of bundles (default: where the server records to)")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nFinished episodes as the folder's index tells them, then what is still recorded or was cut off.\n\nExamples:\n  shinken replay list\n  shinken replay list runs/ --json\n\nExit codes: 0 listed, 2 no such folder.",
    )
    .action(list);
}

async function list(folder: string | undefined, options: { json?: boolean }): Promise<void> {
  const [{ defaultReplayFolder }, { listEpisodes, printable, printableJson }, { renderTable }] =
    await Promise.all([
      import("../../replay/folder.js"),
      import("../../replay/show/index.js"),
      import("../../rollout/table.js"),
    ]);
  const path = folder ?? defaultReplayFolder();
  const episodes = await listEpisodes(path);
  if (options.json === true) {
    process.stdout.write(`${printableJson({ folder: path, episodes })}\n`);
    return;
  }
  if (episodes.length === 0) {
    process.stdout.write(`${printable(path)} holds no bundles\n`);
    return;
  }
  const text = (value: string | number | boolean | null): string =>
    value === null ? "-" : printable(String(value));
  const lines = renderTable<ListedEpisode>(episodes, [
    { title: "task", cell: ({ task, task_version }) => `${text(task)} ${text(task_version)}` },
    {
      title: "score",
      right: true,
      cell: ({ status, score }) => (score === null ? (status ?? "-") : score.toFixed(2)),
    },
    { title: "steps", right: true, cell: ({ steps }) => text(steps) },
    { title: "run", cell: ({ labels }) => text(labels["run"] ?? null).slice(0, 8) },
    { title: "replica", right: true, cell: ({ labels }) => text(labels["replica"] ?? null) },
    { title: "bytes", right: true, cell: ({ bytes }) => String(bytes) },
    { title: "file", cell: ({ file }) => text(file) },
    { title: "remarks", cell: remarks },
  ]);
  process.stdout.write(`${lines.join("\n")}\n`);

  function remarks({ state, parent, recovered, fault }: ListedEpisode): string {
    return [
      ...(state === "finished" ? [] : [state]),
      ...(parent === null ? [] : [`branch of ${text(parent.episode).slice(0, 8)} at ${parent.step}`]),
      ...(recovered ? ["recovered"] : []),
      ...(fault === null ? [] : [text(fault)]),
    ].join(", ");
  }
}
