/** Runs and episodes as a pipeline would store them. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Grading, RunLock, StoredEpisode } from "../../../src/rollout/store/index.js";

export const lock: RunLock = {
  taskSet: "set-1",
  verifier: "verifier-1",
  image: "image-1",
  golden: "golden-1",
  runtime: "shinken-gym/0.1.0",
  operator: "model",
  scaffold: "neutral/1",
  model: "m-1",
  revision: "2026-01-01",
  seed: 2 ** 48 - 1,
  replicas: 3,
  settings: { temperature: 0.25, thinking: true, stop: null },
};

/** Where a file of a test may lie; the caller removes it. */
export const newFolder = (): string => mkdtempSync(join(tmpdir(), "shinken-store-"));

export function graded(task: string, replica: number, score: number, more: Partial<StoredEpisode> = {}) {
  return episode(task, replica, {
    score,
    passed: score === 1,
    verdict: {
      task,
      taskVersion: "1.0.0",
      verifierVersion: `verifier of ${task}`,
      status: "graded",
      score,
      passed: score === 1,
      checks: [{ id: "all", status: "passed", score, weight: 1, evidence: "seen", ms: 1.5 }],
    },
    ...more,
  });
}

export function ungraded(task: string, replica: number, more: Partial<StoredEpisode> = {}): StoredEpisode {
  return episode(task, replica, { status: "ungraded", reason: "machine_died: it is gone", ...more });
}

function episode(task: string, replica: number, more: Partial<StoredEpisode>): StoredEpisode {
  return {
    episode: `${task}/${replica}/${more.attempt ?? 0}/${Math.random()}`,
    task,
    taskVersion: "1.0.0",
    verifierVersion: `verifier of ${task}`,
    image: "image-1",
    golden: `golden of ${task}`,
    variant: "variant-1",
    params: { rows: 3 },
    replica,
    attempt: 0,
    seed: 7,
    file: null,
    sha256: null,
    provenance: "recorded",
    status: "graded",
    score: null,
    passed: null,
    reason: null,
    verdict: null,
    milestones: ["first"],
    reward: 0.5,
    steps: 4,
    truncated: false,
    readyMs: 1.25,
    resetMs: 2,
    stepMs: [1, 2.5],
    operatorMs: [3],
    evaluateMs: 4,
    tokensIn: 100,
    tokensOut: 10,
    modelMs: 5,
    guestMs: 6,
    harnessMs: 7,
    judgeMs: null,
    dollars: 0.125,
    account: null,
    labels: { group: "g" },
    ...more,
  };
}

export function grading(episodeId: string, score: number, more: Partial<Grading> = {}): Grading {
  return {
    episode: episodeId,
    file: "/bundles/one.skn",
    sha256: "00",
    task: "a",
    task_version: "2.0.0",
    verifier: "verifier-2",
    runtime: "shinken-gym/0.2.0",
    by: "rerun",
    provenance: "regraded",
    verdict: { status: "graded", score, passed: score === 1, checks: [] },
    ...more,
  };
}
