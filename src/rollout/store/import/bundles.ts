/** Bundles into runs. What is there already is left out: the same folder can be imported again as it grows. */
import { createHash } from "node:crypto";
import { ShinkenError } from "../../../errors/index.js";
import { bundleFiles, readBundle, type SessionFacts } from "../../../replay/index.js";
import type { RunStore } from "../store.js";
import { byTask, type RunLock, unknownTaskSet } from "../types.js";
import { type BundleEpisode, bundleEpisode } from "./bundle-episode.js";
import { placed } from "./place.js";

export interface ImportReport {
  files: number;
  /** Runs that episodes were added to, made for them or there before. */
  runs: { run: string; episodes: number; made: boolean }[];
  /** Files whose episode is in the store. */
  known: number;
  /** Branches begin in the middle of an episode: no replica of their task. */
  branches: number;
  /** Still recorded, or cut off; `shinken replay recover` finishes them. */
  unfinished: number;
  /** Files that tell something else of an episode than the one that was imported. */
  conflicts: { file: string; episode: string }[];
  unreadable: { file: string; code: string; message: string }[];
}

/** Episodes of one run, by what their sessions say of it. */
interface Group {
  id: string;
  lock: RunLock;
  labels: SessionFacts["labels"];
  episodes: BundleEpisode[];
}

/**
 * Imports files, and the bundles in folders. Episodes that say the same run, task set, operator, model and runtime are of one run,
 * which is the same run whenever they are imported. Rejects with `bad_request` for what is not there.
 */
export async function importBundles(
  store: RunStore,
  paths: readonly string[],
  onFile?: (file: string, done: number, all: number) => void,
): Promise<ImportReport> {
  const files = await bundleFiles(paths);
  const report: ImportReport = {
    files: files.length,
    runs: [],
    known: 0,
    branches: 0,
    unfinished: 0,
    conflicts: [],
    unreadable: [],
  };
  const groups = new Map<string, Group>();
  for (const [done, file] of files.entries()) {
    onFile?.(file, done, files.length);
    await take(store, file, report, groups);
  }
  for (const group of groups.values()) report.runs.push(addGroup(store, group));
  return report;
}

async function take(
  store: RunStore,
  file: string,
  report: ImportReport,
  groups: Map<string, Group>,
): Promise<void> {
  let bundle: Awaited<ReturnType<typeof readBundle>>;
  try {
    bundle = await readBundle(file);
  } catch (error) {
    if (!(error instanceof ShinkenError)) throw error;
    report.unreadable.push({ file, code: error.code, message: error.message });
    return;
  }
  const { session, end } = bundle;
  const there = store.bundleOf(session.episode);
  if (there !== undefined) {
    if (there === null || there === end.sha256) report.known += 1;
    else report.conflicts.push({ file, episode: session.episode });
  } else if (!end.finished) report.unfinished += 1;
  else if (session.parent !== null) report.branches += 1;
  else place(groups, bundle.session, bundleEpisode(bundle), report, file);
}

function place(
  groups: Map<string, Group>,
  session: SessionFacts,
  episode: BundleEpisode,
  report: ImportReport,
  file: string,
): void {
  const group = groupOf(session, episode);
  const known = groups.get(group.id) ?? group;
  groups.set(group.id, known);
  const twin = [...groups.values()].flatMap(({ episodes }) =>
    episodes.filter((one) => one.episode === episode.episode),
  )[0];
  if (twin === undefined) known.episodes.push(episode);
  else if (twin.sha256 === episode.sha256) report.known += 1;
  else report.conflicts.push({ file, episode: episode.episode });
}

/** Label by which episodes say which run they are of. */
const runLabel = "run";

function groupOf(session: SessionFacts, episode: BundleEpisode): Group {
  const text = (name: string): string | null =>
    Object.hasOwn(session.labels, name) ? String(session.labels[name]) : null;
  const lock: RunLock = {
    taskSet: session.task_set ?? unknownTaskSet,
    verifier: byTask,
    image: byTask,
    golden: byTask,
    runtime: session.runtime,
    operator: text("operator") ?? "unknown",
    scaffold: text("scaffold"),
    model: episode.model,
    revision: text("revision"),
    seed: 0,
    replicas: 1,
    settings: {},
  };
  const run = text(runLabel);
  const told = JSON.stringify([
    run,
    lock.taskSet,
    lock.runtime,
    lock.operator,
    lock.scaffold,
    lock.model,
    lock.revision,
  ]);
  const id = createHash("sha256").update(`shinken-import\0${told}`).digest("hex").slice(0, 32);
  return { id, lock, labels: run === null ? {} : { [runLabel]: run }, episodes: [] };
}

function addGroup(store: RunStore, { id, lock, labels, episodes }: Group): ImportReport["runs"][number] {
  const made = store.run(id) === undefined;
  if (made) {
    const counts = new Map<string, number>();
    for (const { task } of episodes) counts.set(task, (counts.get(task) ?? 0) + 1);
    store.begin({ ...lock, replicas: Math.max(...counts.values()) }, labels, "imported", id);
  }
  store.addAll(id, placed(store.episodes(id), episodes));
  if (store.run(id)?.status === "open") store.end(id, "finished");
  return { run: id, episodes: episodes.length, made };
}
