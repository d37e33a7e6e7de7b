/** The golden frames of protocol version 1: a conversation with an echo server, and one of each pushed event. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const goldenFolder = join(dirname(fileURLToPath(import.meta.url)), "golden");

/** Requests in order; the reply to each is golden too. */
export const conversation: Record<string, Record<string, unknown>> = {
  "01-hello": { id: 1, op: "hello", protocol: 1, client: "golden" },
  "02-hello-unsupported": { id: 2, op: "hello", protocol: 2 },
  "03-create": { id: 3, op: "create", session: "first", environment: "echo", grace_s: 5 },
  "04-create-exists": { id: 4, op: "create", session: "first", environment: "echo" },
  "05-step-before-reset": {
    id: 5,
    op: "step",
    session: "first",
    step: 1,
    actions: [{ type: "echo", text: "early" }],
  },
  "06-reset": { id: 6, op: "reset", session: "first", seed: 9007199254740991 },
  "07-step": {
    id: 7,
    op: "step",
    session: "first",
    step: 1,
    actions: [
      { type: "echo", text: "grüße, 世界 🌍" },
      { type: "other", number: -1.5, flags: [true, false, null] },
    ],
  },
  "08-step-resent": {
    id: 8,
    op: "step",
    session: "first",
    step: 1,
    actions: [
      { type: "echo", text: "grüße, 世界 🌍" },
      { type: "other", number: -1.5, flags: [true, false, null] },
    ],
  },
  "09-step-out-of-order": {
    id: 9,
    op: "step",
    session: "first",
    step: 5,
    actions: [{ type: "echo", text: "late" }],
  },
  "10-misspelt-key": { id: 10, op: "reset", sesion: "first" },
  "11-misspelt-operation": { id: 11, op: "evalute", session: "first" },
  "12-bad-action": { id: 12, op: "step", session: "first", step: 2, actions: [{ text: "no type" }] },
  "13-observe": { id: 13, op: "observe", session: "first" },
  "14-evaluate": { id: 14, op: "evaluate", session: "first" },
  "15-fork": { id: 15, op: "fork", session: "first", as: "branch" },
  "16-step-of-fork": {
    id: 16,
    op: "step",
    session: "branch",
    step: 2,
    actions: [{ type: "done", text: "x".repeat(300) }],
  },
  "17-episode-over": { id: 17, op: "step", session: "branch", step: 3, actions: [{ type: "echo" }] },
  "18-cancel": { id: 18, op: "cancel", session: "first" },
  "19-list-sessions": { id: 19, op: "list", what: "sessions" },
  "20-list-tasks": { id: 20, op: "list", what: "tasks" },
  "21-detach": { id: 21, op: "detach", session: "branch" },
  "22-attach-wrong-token": { id: 22, op: "attach", session: "branch", token: "guessed" },
  "23-attach": { id: 23, op: "attach", session: "branch", token: "token-2" },
  "24-close": { id: 24, op: "close", session: "branch" },
  "25-unknown-session": { id: 25, op: "observe", session: "branch" },
  "26-create-with-checkpoints": {
    id: 26,
    op: "create",
    session: "second",
    environment: "echo",
    checkpoints: { budget_mib: 64 },
  },
  "27-fork-at-step": { id: 27, op: "fork", session: "first", as: "past", at_step: 1 },
  "28-list-checkpoints": { id: 28, op: "list", what: "checkpoints", session: "first" },
  "29-create-with-labels": {
    id: 29,
    op: "create",
    session: "labelled",
    environment: "echo",
    labels: { run: "r7", group: "g3", replica: 0 },
    secrets: { values: ["sk-0123456789"], variables: ["DEPLOY_KEY"] },
    record: true,
  },
  "30-reset-labelled": { id: 30, op: "reset", session: "labelled" },
  "31-step-with-decision": {
    id: 31,
    op: "step",
    session: "labelled",
    step: 1,
    actions: [{ type: "echo", text: "hello" }],
    decision: { model: "m-1", token_ids: [5, 7], logprobs: [-0.25, -1.5] },
  },
  "32-create-from-a-bundle": {
    id: 32,
    op: "create",
    session: "branched",
    from: { bundle: "7c0dd2c6-3b4f-4c59-9d6e-0f6a4b0b7d11", step: 2 },
  },
  "33-rollout-open": {
    id: 33,
    op: "rollout.open",
    rollout: "r1",
    environment: "echo",
    group: 2,
    groups: 3,
    seed: 7,
    weights: { echo: 2 },
    priorities: { echo: 0 },
    quotas: { echo: 10 },
    warm: { min: 0, max: 4 },
    stragglers: { policy: "drop", quorum: 1, after_s: 60 },
    attempts: 2,
    labels: { trainer: "t1" },
  },
  "34-rollout-open-exists": { id: 34, op: "rollout.open", rollout: "r1", environment: "echo" },
  "35-rollout-stats": { id: 35, op: "rollout.stats", rollout: "r1" },
  "36-rollout-weights": { id: 36, op: "rollout.weights", rollout: "r1", weights: { echo: 0.5 } },
  "37-rollout-attach": {
    id: 37,
    op: "rollout.attach",
    rollout: "r1",
    token: "token-4",
    events: true,
    after: 0,
  },
  "38-rollout-next": { id: 38, op: "rollout.next", rollout: "r1", wait_s: 30 },
  "39-rollout-close": { id: 39, op: "rollout.close", rollout: "r1" },
  "40-unknown-rollout": { id: 40, op: "rollout.next", rollout: "r1" },
};

export const events: Record<string, Record<string, unknown>> = {
  "event-closed": {
    event: "closed",
    session: "first",
    code: "session_expired",
    message: "no request for 900 seconds",
  },
  "event-detached": { event: "detached", session: "first" },
  "event-infra": { event: "infra", session: "first", code: "machine_died", message: "the guest powered off" },
  "event-milestone": { event: "milestone", session: "first", check: "report-written", reward: 0.25, step: 3 },
  "event-progress": {
    event: "progress",
    session: "first",
    kind: "loop",
    step: 4,
    repeats: 3,
    message: "the same action gave the same observation 3 times",
  },
  "event-rollout.again": {
    event: "rollout.again",
    group: "g1",
    replica: 1,
    attempt: 2,
    task: "count-words",
    seed: 22,
    code: "machine_died",
    message: "the guest powered off",
    rollout: "r1",
    number: 1,
  },
  "event-rollout.closed": {
    event: "rollout.closed",
    code: "rollout_over",
    message: "the rollout 'r1' was closed: as asked for",
    rollout: "r1",
    number: 4,
  },
  "event-rollout.group": {
    event: "rollout.group",
    group: "g1",
    task: "count-words",
    seed: 20,
    params: { lines: 40 },
    state: "complete",
    late: [],
    results: [
      { replica: 1, status: "graded", score: 1, reward: 1 },
      { replica: 0, status: "failed", score: null, reward: null },
    ],
    progress: { size: 2, ended: 2, graded: 1, passed: 1 },
    rollout: "r1",
    number: 3,
  },
  "event-rollout.result": {
    event: "rollout.result",
    group: "g1",
    replica: 0,
    attempt: 3,
    task: "count-words",
    seed: 21,
    status: "failed",
    verdict: null,
    reward: null,
    steps: 2,
    reason: "machine_died: kernel panic",
    session: "session-1",
    episode: null,
    progress: { size: 2, ended: 1, graded: 0, passed: 0 },
    rollout: "r1",
    number: 2,
  },
};

/** Names of all golden frames, without their endings. */
export function goldenNames(): string[] {
  return readdirSync(goldenFolder)
    .filter((file) => file.endsWith(".json"))
    .map((file) => file.slice(0, -".json".length))
    .sort();
}

export function golden(name: string): { json: Buffer; msgpack: Buffer } {
  return {
    json: readFileSync(join(goldenFolder, `${name}.json`)),
    msgpack: readFileSync(join(goldenFolder, `${name}.msgpack`)),
  };
}
