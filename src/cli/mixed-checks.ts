/** Graphs of mixed checks that benchmarks grade, and the state that they look for. */
import type { Sandbox } from "../sandbox/sandbox.js";
import { closePool, evaluateGraph, graphNode, type LoadedGraph, loadGraph } from "../verifiers/index.js";

const folder = "/home/agent/bench";
const databases = ["a", "b"];
/** Of ten checks so many ask for a file and for a process; the rest ask a database. */
const FILES = 6;
const PROCESSES = 2;
const SHARE = 10;
/** Seconds that the processes sleep: what tells them apart. */
const FIRST_SLEEP = 301;

const file = (index: number): object => ({
  id: `file-${index}`,
  channel: "fs",
  query: { kind: "text", path: `${folder}/file-${index}.txt` },
  assert: { type: "text", equals: `content ${index}\n` },
});
const process = (index: number): object => ({
  id: `process-${index}`,
  channel: "process",
  query: { kind: "count", argv: ["sleep", String(FIRST_SLEEP + index)] },
  assert: { type: "number", equals: 1 },
});
const database = (index: number): object => ({
  id: `database-${index}`,
  channel: "sqlite",
  query: {
    kind: "number",
    path: `${folder}/${databases[index % databases.length] ?? ""}.db`,
    sql: "SELECT sum(value) FROM numbers WHERE value > ?",
    bind: [index],
  },
  assert: { type: "number", equals: (100 * 101) / 2 - (index * (index + 1)) / 2 },
});
const program = (index: number): object => ({
  id: `program-${index}`,
  channel: "exec-json",
  query: { argv: ["/bin/echo", String(index)] },
  assert: { type: "json", equals: index },
});

/** Graphs by what they cost: looks alone, and programs that run in the guest. */
export const mixes = {
  ten: mixed(10),
  hundred: mixed(100),
  programs: { all: Array.from({ length: 10 }, (_, index) => program(index)) },
} as const;
export type Mix = keyof typeof mixes;

function mixed(count: number): object {
  const of = (share: number, make: (index: number) => object): object[] =>
    Array.from({ length: (count * share) / SHARE }, (_, index) => make(index));
  return { all: [...of(FILES, file), ...of(PROCESSES, process), ...of(SHARE - FILES - PROCESSES, database)] };
}

const loaded = new Map<Mix, LoadedGraph>();

/** Puts what a mix looks for into a machine. */
export async function prepareMix(mix: Mix, sandbox: Sandbox): Promise<void> {
  const processes = mix === "hundred" ? 10 * PROCESSES : PROCESSES;
  const script = [
    `mkdir -p ${folder} && cd ${folder}`,
    'for i in $(seq 0 59); do echo "content $i" > file-$i.txt; done',
    `for db in ${databases.join(" ")}; do sqlite3 $db.db 'CREATE TABLE numbers(value); WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n WHERE i<100) INSERT INTO numbers SELECT i FROM n'; done`,
    `for i in $(seq ${FIRST_SLEEP} ${FIRST_SLEEP + processes - 1}); do setsid sleep $i >/dev/null 2>&1 </dev/null & done`,
    "sleep 1",
  ].join("\n");
  const result = await sandbox.exec({ argv: ["sh", "-c", script] });
  if (result.exitCode !== 0)
    throw new Error(`preparing the mixed checks failed: ${Buffer.from(result.stderr).toString()}`);
}

/** Grades a prepared machine; throws unless all checks pass, so that only whole evaluations are measured. */
export async function evaluateMix(mix: Mix, sandbox: Sandbox): Promise<void> {
  let graph = loaded.get(mix);
  if (graph === undefined) {
    graph = loadGraph(graphNode.parse(mixes[mix]), { task: "bench" });
    loaded.set(mix, graph);
  }
  const verdict = await evaluateGraph(graph, {
    fork: () => sandbox.fork("grade"),
    episode: { answer: null, end: "none", reason: null, steps: 0, actions: [] },
  });
  if (verdict.passed !== true) throw new Error(`the checks do not pass: ${JSON.stringify(verdict)}`);
}

/** Ends the worker threads of the grader. */
export function closeGrader(): Promise<void> {
  return closePool();
}
