/** A process that writes episodes until it is killed, and says after each that it is stored. `node writer.mjs FILE RUN FIRST` */
import { openRunStore } from "../../../dist/rollout/store/index.js";

const [path, run, first] = process.argv.slice(2);
const store = openRunStore(path);
for (let replica = Number(first); ; replica += 1) {
  const score = (replica % 5) / 4;
  store.add(run, {
    episode: `${run}/${replica}`,
    task: "a",
    taskVersion: "1.0.0",
    verifierVersion: "v",
    image: null,
    golden: null,
    variant: null,
    params: { filling: "x".repeat((replica % 7) * 900) },
    replica,
    attempt: 0,
    seed: replica,
    file: null,
    sha256: null,
    provenance: "recorded",
    status: "graded",
    score,
    passed: score === 1,
    reason: null,
    verdict: { status: "graded", score, passed: score === 1, checks: [] },
    milestones: [],
    reward: score,
    steps: 1,
    truncated: false,
    readyMs: null,
    resetMs: null,
    stepMs: [],
    operatorMs: [],
    evaluateMs: null,
    tokensIn: null,
    tokensOut: null,
    modelMs: null,
    guestMs: null,
    harnessMs: null,
    judgeMs: null,
    labels: {},
  });
  process.stdout.write(`${replica}\n`);
}
