/** What the commands on labelled end states share. */
import { writeFile } from "node:fs/promises";
import { ShinkenError } from "../../errors/index.js";
import { nearest } from "../../errors/nearest.js";
import type { Case, EndState } from "../../rollout/calibration/index.js";
import { openBackend } from "../backend.js";
import { Stage } from "../progress.js";

/** The cases of a corpus: recorded ones as they are, end states graded on machines. */
export async function casesOf(
  path: string,
  options: { tasks?: string | undefined; only?: readonly string[] | undefined; stage: string },
): Promise<Case[]> {
  const { casesOfRecord, casesOfStates, isRecord, loadCorpus, loadRecord } = await import(
    "../../rollout/calibration/index.js"
  );
  if (isRecord(path)) return pick(casesOfRecord(await loadRecord(path)), options.only, path);
  const corpus = await loadCorpus(path);
  const states = pick(corpus.states, options.only, path);
  const verdicts = await gradeOnMachines(states, tasksOf(path, options.tasks, corpus.tasks), options.stage);
  return casesOfStates(states, verdicts);
}

/** The folder of tasks: the option's, or the corpus's own. */
export function tasksOf(path: string, given: string | undefined, named: string | undefined): string {
  const folder = given ?? named;
  if (folder !== undefined) return folder;
  throw new ShinkenError("bad_request", `${path}: names no folder of tasks`, {
    path: "tasks",
    suggestion: "name it with --tasks",
  });
}

/** Those of some ids, or all. Throws `bad_request` for an id that there is not. */
export function pick<T extends { id: string }>(
  all: readonly T[],
  only: readonly string[] | undefined,
  path: string,
): T[] {
  if (only === undefined) return [...all];
  const ids = new Set(all.map(({ id }) => id));
  for (const id of only) {
    if (ids.has(id)) continue;
    const meant = nearest(id, ids);
    throw new ShinkenError("bad_request", `${path}: there is no state "${id}"`, {
      path: "only",
      suggestion: meant === undefined ? "a state is named TASK/ID" : `did you mean "${meant}"?`,
    });
  }
  return all.filter(({ id }) => only.includes(id));
}

async function gradeOnMachines(states: readonly EndState[], tasks: string, name: string) {
  const { gradeStates } = await import("../../rollout/calibration/index.js");
  const backend = await openBackend({ tasks });
  try {
    const stage = new Stage(name);
    const verdicts = await gradeStates({
      states,
      tasks: backend.tasks?.tasks ?? [],
      provider: backend.provider,
      judge: backend.judge,
      onState: (id, done, all) => stage.update(done, all, id),
    });
    stage.end();
    return verdicts;
  } finally {
    await backend.close();
  }
}

/** Writes a file of recorded verdicts. Rejects with `bad_request`. */
export async function writeRecord(file: string, cases: readonly Case[]): Promise<void> {
  const { lineOf } = await import("../../rollout/calibration/index.js");
  const text = cases.map((one) => `${JSON.stringify(lineOf(one))}\n`).join("");
  await writeFile(file, text).catch((error: unknown) => {
    const { code = "not writable" } = error as NodeJS.ErrnoException;
    throw new ShinkenError("bad_request", `${file}: ${code}`, {
      path: "record",
      suggestion: "name a file in a folder that can be written to",
    });
  });
}
