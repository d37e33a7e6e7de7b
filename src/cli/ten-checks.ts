/** The graph of `bench fork`'s evaluation: six files, two processes, two databases. */
import type { Sandbox } from "../sandbox/sandbox.js";
import { closePool, evaluateGraph, graphNode, type LoadedGraph, loadGraph } from "../verifiers/index.js";

const folder = "/home/agent/bench";
const files = [0, 1, 2, 3, 4, 5];

const graph = {
  all: [
    ...files.map((i) => ({
      id: `file-${i}`,
      channel: "fs",
      query: { kind: "text", path: `${folder}/file-${i}.txt` },
      assert: { type: "text", equals: `content ${i}\n` },
    })),
    ...[301, 302].map((seconds) => ({
      id: `process-${seconds}`,
      channel: "process",
      query: { kind: "count", argv: ["sleep", String(seconds)] },
      assert: { type: "number", equals: 1 },
    })),
    ...["a", "b"].map((name) => ({
      id: `database-${name}`,
      channel: "sqlite",
      query: { kind: "number", path: `${folder}/${name}.db`, sql: "SELECT sum(value) FROM numbers" },
      assert: { type: "number", equals: 5050 },
    })),
  ],
};

let loaded: LoadedGraph | undefined;

/** Puts what the checks look for into a machine. */
export async function prepareTen(sandbox: Sandbox): Promise<void> {
  const script = [
    `mkdir -p ${folder} && cd ${folder}`,
    ...files.map((i) => `echo 'content ${i}' > file-${i}.txt`),
    "for db in a b; do sqlite3 $db.db 'CREATE TABLE numbers(value); WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n WHERE i<100) INSERT INTO numbers SELECT i FROM n'; done",
    "setsid sleep 301 >/dev/null 2>&1 </dev/null & setsid sleep 302 >/dev/null 2>&1 </dev/null &",
  ].join("\n");
  const result = await sandbox.exec({ argv: ["sh", "-c", script] });
  if (result.exitCode !== 0)
    throw new Error(`preparing the ten checks failed: ${Buffer.from(result.stderr).toString()}`);
}

/** Grades a prepared machine; throws unless all ten checks pass, so that only whole evaluations are measured. */
export async function evaluateTen(sandbox: Sandbox): Promise<void> {
  loaded ??= loadGraph(graphNode.parse(graph), { task: "bench" });
  const verdict = await evaluateGraph(loaded, {
    fork: () => sandbox.fork("grade"),
    episode: { answer: null, end: "none", reason: null, steps: 0, actions: [] },
  });
  if (verdict.passed !== true) throw new Error(`the ten checks do not pass: ${JSON.stringify(verdict)}`);
}

/** Ends the worker threads of the grader. */
export function closeGrader(): Promise<void> {
  return closePool();
}
