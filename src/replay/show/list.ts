/** What a folder of bundles holds: finished episodes from its index, the others from the files themselves. */
import { stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { readSession } from "../export/filter.js";
import { bundlesIn } from "../files.js";
import { type IndexLine, readIndex } from "../write/index-file.js";

export interface ListedEpisode {
  /** Relative to the folder. */
  file: string;
  /** `finished`: in the index. `unfinished`: still recorded, or cut off. `gone`: in the index, and not there. */
  state: "finished" | "unfinished" | "gone";
  bytes: number;
  episode: string | null;
  task: string | null;
  task_version: string | null;
  seed: number | null;
  labels: Record<string, string | number | boolean>;
  parent: { episode: string; step: number } | null;
  steps: number | null;
  status: "graded" | "ungraded" | null;
  score: number | null;
  recovered: boolean;
  /** Why a file could not be read. */
  fault: string | null;
}

/** The episodes of a folder, by their files' names. Rejects with `bad_request` where there is no such folder. */
export async function listEpisodes(folder: string): Promise<ListedEpisode[]> {
  const [index, paths] = await Promise.all([readIndex(folder), bundlesIn(folder)]);
  const listed: ListedEpisode[] = [];
  for (const file of paths.map((path) => relative(folder, path))) {
    const line = index.get(file);
    index.delete(file);
    const { size } = await stat(join(folder, file));
    listed.push(line === undefined ? await unfinished(folder, file, size) : finished(line, "finished"));
  }
  for (const line of index.values()) listed.push(finished(line, "gone"));
  return listed.sort((a, b) => (a.file < b.file ? -1 : 1));
}

function finished(line: IndexLine, state: "finished" | "gone"): ListedEpisode {
  return {
    file: line.file,
    state,
    bytes: line.bytes,
    episode: line.episode ?? null,
    task: line.task ?? null,
    task_version: line.task_version ?? null,
    seed: line.seed ?? null,
    labels: line.labels ?? {},
    parent: line.parent ?? null,
    steps: line.steps ?? null,
    status: line.status ?? null,
    score: line.score ?? null,
    recovered: line.recovered === true,
    fault: null,
  };
}

async function unfinished(folder: string, file: string, bytes: number): Promise<ListedEpisode> {
  const unknown: ListedEpisode = {
    ...finished({ file, bytes, sha256: "" }, "finished"),
    state: "unfinished",
  };
  try {
    const session = await readSession(join(folder, file));
    if (session === null) return { ...unknown, fault: "its session is not told" };
    const { episode, task, task_version, seed, labels, parent } = session;
    return { ...unknown, episode, task, task_version, seed, labels, parent };
  } catch (error) {
    return { ...unknown, fault: error instanceof Error ? error.message : String(error) };
  }
}
