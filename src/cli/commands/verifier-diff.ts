import { availableParallelism } from "node:os";
import type { Command } from "commander";
import type { DiffCase, EndState, Label, VerdictRecord } from "../../rollout/calibration/index.js";
import { openBackend } from "../backend.js";
import { exitCodes } from "../exit-codes.js";
import { Stage } from "../progress.js";
import { version } from "../version.js";

export function define(command: Command): void {
  command
    .argument("<a>", "folder of tasks, or recorded verdicts (.jsonl)")
    .argument("<b>", "another version of them")
    .argument(
      "<corpus>",
      "end states (a file or a folder), or recorded episodes (.skn, or a folder with such); with recorded verdicts a record will do (.jsonl)",
    )
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nTwo folders of tasks grade one and the same machine wherever setup and oracle are equal. Tasks that are equal are not graded. Recorded episodes are run again from the setup of the first folder.\n\nExamples:\n  shinken verifier diff old/demo tasks/demo tasks/demo-labels\n  shinken verifier diff old/demo tasks/demo runs/\n  shinken verifier diff before.jsonl after.jsonl tasks/demo-labels --json\n\nExit codes: 0 no verdict changed, 1 one did or is missing, 2 a file is wrong, 3 no machine can be made.",
    )
    .action(diff);
}

async function diff(a: string, b: string, corpus: string, options: { json?: boolean }): Promise<void> {
  const { differs, diffVerdicts, renderDiff } = await import("../../rollout/calibration/index.js");
  const { cases, same } = await compare(a, b, corpus);
  const report = diffVerdicts(cases, same);
  process.stdout.write(options.json === true ? `${JSON.stringify(report)}\n` : renderDiff(report));
  if (differs(report)) process.exitCode = exitCodes.failed;
}

type Known = { id: string; label?: Label | null | undefined };

async function compare(a: string, b: string, path: string): Promise<{ cases: DiffCase[]; same: number }> {
  const { isRecord, loadCorpus, loadRecord } = await import("../../rollout/calibration/index.js");
  if (isRecord(path)) {
    const lines = await loadRecord(path);
    return { cases: pairs(lines, await recorded(a), await recorded(b)), same: 0 };
  }
  if (!isRecord(a) && !isRecord(b) && (await holdsBundles(path))) return replayed(a, b, path);
  const { states } = await loadCorpus(path);
  if (isRecord(a) || isRecord(b)) {
    const before = isRecord(a) ? await recorded(a) : await graded(a, states);
    const after = isRecord(b) ? await recorded(b) : await graded(b, states);
    return { cases: pairs(states, before, after), same: 0 };
  }
  return twice(a, b, states);
}

function pairs(
  known: readonly Known[],
  before: ReadonlyMap<string, VerdictRecord>,
  after: ReadonlyMap<string, VerdictRecord>,
): DiffCase[] {
  return known.map(({ id, label }) => ({
    id,
    label: label ?? null,
    before: before.get(id) ?? null,
    after: after.get(id) ?? null,
  }));
}

async function recorded(file: string): Promise<Map<string, VerdictRecord>> {
  const { loadRecord } = await import("../../rollout/calibration/index.js");
  const lines = await loadRecord(file);
  return new Map(lines.flatMap(({ id, verdict }) => (verdict === undefined ? [] : [[id, verdict] as const])));
}

async function graded(folder: string, states: readonly EndState[]): Promise<Map<string, VerdictRecord>> {
  const { gradeStates } = await import("../../rollout/calibration/index.js");
  const backend = await openBackend({ tasks: folder });
  const stage = new Stage(`verifier diff: ${folder}`);
  try {
    return await gradeStates({
      states,
      tasks: backend.tasks?.tasks ?? [],
      provider: backend.provider,
      judge: backend.judge,
      onState: (id, done, all) => stage.update(done, all, id),
    });
  } finally {
    stage.end();
    await backend.close();
  }
}

/** Whether the corpus is of recorded episodes. */
async function holdsBundles(path: string): Promise<boolean> {
  const { bundleEnding, bundleFiles } = await import("../../replay/index.js");
  return bundleFiles([path]).then(
    ([first]) => first?.endsWith(bundleEnding) === true,
    () => false,
  );
}

/** Both versions grade the very same end states, each run again once. */
async function replayed(a: string, b: string, path: string): Promise<{ cases: DiffCase[]; same: number }> {
  const { bundleFiles } = await import("../../replay/index.js");
  const { regrade } = await import("../../rollout/replays/index.js");
  const { loadTasks } = await import("../../env/index.js");
  const { publishedScorers: scorers } = await import("../../suites/index.js");
  const backend = await openBackend({ tasks: a });
  const stage = new Stage("verifier diff");
  try {
    const before = backend.tasks?.tasks ?? [];
    const after = (await loadTasks(b, { scorers })).tasks;
    const same = new Set(after.map(({ digest }) => digest));
    const unchanged = new Set(before.filter(({ digest }) => same.has(digest)).map(({ id }) => id));
    let skipped = 0;
    const episodes = await regrade({
      files: await bundleFiles([path]),
      played: before,
      graders: [before, after],
      provider: backend.provider,
      judge: backend.judge,
      concurrency: availableParallelism() * 2,
      runtime: `shinken-gym/${version()}`,
      skip: ({ task }) => {
        if (unchanged.has(task)) skipped += 1;
        return unchanged.has(task);
      },
      onEpisode: ({ task, file }, done, all) => stage.update(done, all, task ?? file),
    });
    const unreadable = episodes.find(({ error }) => error !== null)?.error;
    if (unreadable !== undefined && unreadable !== null) throw unreadable;
    const cases = episodes.flatMap(({ task, episode, lines: [first, second] }): DiffCase[] =>
      first === undefined || second === undefined
        ? []
        : [{ id: `${task}/${episode}`, label: null, before: first.verdict, after: second.verdict }],
    );
    return { cases, same: skipped };
  } finally {
    stage.end();
    await backend.close();
  }
}

async function twice(
  a: string,
  b: string,
  states: readonly EndState[],
): Promise<{ cases: DiffCase[]; same: number }> {
  const { gradeStatesTwice } = await import("../../rollout/calibration/index.js");
  const { loadTasks } = await import("../../env/index.js");
  const { publishedScorers: scorers } = await import("../../suites/index.js");
  const backend = await openBackend({ tasks: a });
  const stage = new Stage("verifier diff");
  try {
    const { verdicts, same } = await gradeStatesTwice({
      states,
      tasks: backend.tasks?.tasks ?? [],
      against: (await loadTasks(b, { scorers })).tasks,
      provider: backend.provider,
      judge: backend.judge,
      onState: (id, done, all) => stage.update(done, all, id),
    });
    const cases = states.flatMap(({ id, label }): DiffCase[] => {
      const [before, after] = verdicts.get(id) ?? [];
      return before === undefined || after === undefined ? [] : [{ id, label, before, after }];
    });
    return { cases, same };
  } finally {
    stage.end();
    await backend.close();
  }
}
