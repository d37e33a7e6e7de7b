import type { Command } from "commander";
import type { Case } from "../../rollout/calibration/index.js";
import { casesOf } from "./verifier-corpus.js";

interface TriageOptions {
  tasks?: string;
  verdicts?: string;
  json?: boolean;
}

export function define(command: Command): void {
  command
    .argument("<corpus>", "labelled end states (a file or a folder), or recorded verdicts (.jsonl)")
    .option("--tasks <dir>", "folder of their tasks (default: what the labels name)")
    .option("--verdicts <file>", "recorded verdicts of these states (.jsonl), instead of grading them")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nProgram, judge and person side by side, the most doubtful program first; each with its evidence and a command that grades it anew.\n\nExample:\n  shinken verifier triage tasks/demo-labels\n\nExit codes: 0 reported, 2 a file is wrong, 3 no machine can be made.",
    )
    .action(run);
}

async function run(path: string, options: TriageOptions): Promise<void> {
  const { isRecord, renderTriage, suspicions, triage } = await import("../../rollout/calibration/index.js");
  const cases = await (options.verdicts === undefined
    ? casesOf(path, { tasks: options.tasks, stage: "verifier triage" })
    : withVerdicts(path, options.verdicts));
  const tasks = options.tasks === undefined ? [] : ["--tasks", options.tasks];
  const regrade = (id: string): string =>
    ["shinken", "verifier", "agree", path, ...tasks, "--only", id].map(quoted).join(" ");
  const found = triage(cases, isRecord(path) ? () => null : regrade);
  const without = cases.filter(({ verdict }) => verdict === null).map(({ id }) => id);
  process.stdout.write(
    options.json === true
      ? `${JSON.stringify({ suspicions, cases: found, without_verdict: without })}\n`
      : renderTriage(found, without),
  );
}

/** The states of a corpus with verdicts and judgements of a record. */
async function withVerdicts(path: string, file: string): Promise<Case[]> {
  const { casesOfStates, loadCorpus, loadRecord } = await import("../../rollout/calibration/index.js");
  const { states } = await loadCorpus(path);
  const lines = await loadRecord(file);
  const verdicts = lines.flatMap(({ id, verdict }) =>
    verdict === undefined ? [] : [[id, verdict] as const],
  );
  const judgements = lines.flatMap(({ id, judge }) => (judge === undefined ? [] : [[id, judge] as const]));
  return casesOfStates(states, new Map(verdicts), new Map(judgements));
}

/** A word as a shell reads it back. */
function quoted(word: string): string {
  return /^[\w./:@%+,=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
