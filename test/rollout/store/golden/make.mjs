/**
 * Makes the golden database of the schema version that `dist` has, once: `node test/rollout/store/golden/make.mjs`. What is there
 * stays for ever. All of them hold the same rows, which `expected.json` tells.
 */
import { existsSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { openRunStore } from "../../../../dist/rollout/store/index.js";
import { schemaVersion } from "../../../../dist/rollout/store/schema/index.js";

const at = (name) => fileURLToPath(new URL(name, import.meta.url));
const path = at(`v${schemaVersion}.db`);
if (existsSync(path)) throw new Error(`${path} is there, and stays as it is`);

const lock = {
  taskSet: "set-1",
  verifier: "verifiers-1",
  image: "image-1",
  golden: "goldens-1",
  runtime: "shinken-gym/0.1.0",
  operator: "model",
  scaffold: "neutral/1",
  model: "m-1",
  revision: "2026-01-01",
  seed: 2 ** 48 - 1,
  replicas: 2,
  settings: { temperature: 0.25, thinking: true, stop: null },
};

const episode = (name, task, replica, more) => ({
  episode: `${name}-${task}-${replica}-${more.attempt ?? 0}`,
  task,
  taskVersion: "1.0.0",
  verifierVersion: `verifier of ${task}`,
  image: "image-1",
  golden: `golden of ${task}`,
  variant: "variant-1",
  params: { rows: 3, name: "Ærø" },
  replica,
  attempt: 0,
  seed: 281474976710655,
  file: `/bundles/${name}/${task}-${replica}.skn`,
  sha256: "5e",
  provenance: "recorded",
  status: "graded",
  score: null,
  passed: null,
  reason: null,
  verdict: null,
  milestones: ["first", "second"],
  reward: 0.1 + 0.2,
  steps: 4,
  truncated: replica === 1,
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
  labels: { group: "g", night: true, shard: 3 },
  ...more,
});
const verdict = (status, score) => ({
  status,
  score,
  passed: score === null ? null : score === 1,
  checks: [{ id: "all", status: "passed", score, weight: 1, evidence: "seen: \u{1f600}" }],
});
const graded = (score) => ({ score, passed: score === 1, verdict: verdict("graded", score) });
const ungraded = { status: "ungraded", reason: "machine_died: it is gone" };

const store = openRunStore(path);
store.begin(lock, { note: "first" }, "played", "played-1");
store.add("played-1", episode("p", "a", 0, graded(1)));
store.add("played-1", episode("p", "a", 1, graded(0.25)));
store.add("played-1", episode("p", "b", 0, ungraded));
store.add("played-1", episode("p", "b", 0, { ...graded(1 / 3), attempt: 1 }));
store.add("played-1", episode("p", "b", 1, ungraded));
store.end("played-1", "interrupted");
store.end("played-1", "finished");
store.addGrading({
  episode: "p-a-0-0",
  file: "/bundles/p/a-0.skn",
  sha256: "5e",
  task: "a",
  task_version: "2.0.0",
  verifier: "verifier-2",
  runtime: "shinken-gym/0.2.0",
  by: "rerun",
  provenance: "regraded",
  verdict: verdict("graded", 0.5),
});
store.begin({ ...lock, image: null, golden: null, settings: {} }, {}, "reported", "reported-1");
store.add("reported-1", episode("r", "a", 0, { score: 0.9, provenance: "self_reported", file: null, sha256: null }));
const told = {
  runs: store.runs().sort((a, b) => (a.id < b.id ? -1 : 1)),
  played: store.episodes("played-1"),
  reported: store.episodes("reported-1"),
  done: store.done("played-1"),
  gradings: store.gradings(),
};
store.close();
if (!existsSync(at("expected.json"))) writeFileSync(at("expected.json"), `${JSON.stringify(told, null, 2)}\n`);
