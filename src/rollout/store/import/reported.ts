/** Results that somebody tells: stored as self-reported, whoever it is. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { z } from "zod";
import { ShinkenError } from "../../../errors/index.js";
import { parseOrThrow } from "../../../errors/parse.js";
import type { RunStore } from "../store.js";
import type { StoredEpisode } from "../types.js";

const label = z.union([z.string(), z.number(), z.boolean()]);
const count = z.int().min(0);

const result = z
  .strictObject({
    task: z.string().min(1),
    task_version: z.string().default("unknown"),
    score: z.number().min(0).max(1).nullable(),
    passed: z.boolean().nullable().default(null),
    /** Of a result without a score. */
    reason: z.string().optional(),
    replica: count.optional(),
    steps: count.nullable().default(null),
    tokens_in: count.nullable().default(null),
    tokens_out: count.nullable().default(null),
    dollars: z.number().min(0).nullable().default(null),
  })
  .refine(({ score, passed }) => score !== null || passed === null, {
    error: "is null where there is no score",
    path: ["passed"],
  });

const reportFile = z.strictObject({
  task_set: z.string().min(1),
  operator: z.string().min(1),
  scaffold: z.string().nullable().default(null),
  model: z.string().nullable().default(null),
  revision: z.string().nullable().default(null),
  seed: count.default(0),
  settings: z.record(z.string(), label.nullable()).default({}),
  /** Who says so, and where. */
  source: z.string().min(1),
  labels: z.record(z.string(), label).default({}),
  results: z.array(result).min(1),
});
type ReportFile = z.output<typeof reportFile>;

/** Programs of ours gave none of these scores. */
const nobody = "self-reported";

export interface ReportedRun {
  run: string;
  episodes: number;
  /** False: that file is in the store. */
  made: boolean;
}

/** Stores a file of results as one run. Rejects with `bad_request` for a file that cannot be read or is wrong, with its path. */
export async function importReported(store: RunStore, path: string): Promise<ReportedRun> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new ShinkenError("bad_request", `${path}: ${(cause as Error).message}`, { path, cause });
  });
  const told = parseOrThrow(reportFile, asJson(text, path), "bad_request");
  const id = createHash("sha256").update(`shinken-reported\0${text}`).digest("hex").slice(0, 32);
  const episodes = episodesOf(told, id);
  const made = store.run(id) === undefined;
  if (made) {
    const { task_set: taskSet, operator, scaffold, model, revision, seed, settings, source, labels } = told;
    const replicas = Math.max(...episodes.map(({ replica }) => replica)) + 1;
    const unseen = { verifier: nobody, image: null, golden: null, runtime: nobody };
    const lock = { ...unseen, taskSet, operator, scaffold, model, revision, seed, replicas, settings };
    store.begin(lock, { ...labels, source }, "reported", id);
  }
  // A process that was killed in between left a run without its episodes, or without its end.
  const there = store.run(id);
  if (there?.episodes === 0) store.addAll(id, episodes);
  if (there?.status === "open") store.end(id, "finished");
  return { run: id, episodes: episodes.length, made };
}

function asJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ShinkenError("bad_request", `${path}: ${(error as Error).message}`, { path });
  }
}

/** Replicas that say no number take the next of their task. */
function episodesOf({ results }: ReportFile, run: string): StoredEpisode[] {
  const next = new Map<string, number>();
  const taken = new Set<string>();
  return results.map((one, index) => {
    const replica = one.replica ?? next.get(one.task) ?? 0;
    next.set(one.task, Math.max(replica + 1, next.get(one.task) ?? 0));
    const key = `${replica} ${one.task}`;
    if (taken.has(key))
      throw new ShinkenError(
        "bad_request",
        `results[${index}]: replica ${replica} of ${one.task} stands twice`,
        {
          path: `results[${index}].replica`,
        },
      );
    taken.add(key);
    return reported(one, replica, `${run}/${index}`);
  });
}

function reported(one: ReportFile["results"][number], replica: number, episode: string): StoredEpisode {
  return {
    episode,
    task: one.task,
    taskVersion: one.task_version,
    verifierVersion: null,
    image: null,
    golden: null,
    variant: null,
    params: {},
    replica,
    attempt: 0,
    seed: null,
    file: null,
    sha256: null,
    provenance: "self_reported",
    status: one.score === null ? "ungraded" : "graded",
    score: one.score,
    passed: one.passed,
    reason: one.score === null ? (one.reason ?? "no score was told") : null,
    verdict: null,
    milestones: [],
    reward: null,
    steps: one.steps,
    truncated: false,
    readyMs: null,
    resetMs: null,
    stepMs: [],
    operatorMs: [],
    evaluateMs: null,
    tokensIn: one.tokens_in,
    tokensOut: one.tokens_out,
    modelMs: null,
    guestMs: null,
    harnessMs: null,
    judgeMs: null,
    dollars: one.dollars,
    account: null,
    labels: {},
  };
}
