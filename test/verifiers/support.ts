import { parseOrThrow } from "../../src/errors/parse.js";
import {
  type EpisodeFacts,
  evaluateGraph,
  type GradeContext,
  graphNode,
  type LoadedGraph,
  type LoadGraphOptions,
  loadGraph,
  type Verdict,
} from "../../src/verifiers/index.js";
import { type MemoryMachine, MemorySandbox } from "../support/memory-sandbox.js";

export const silent: EpisodeFacts = { answer: null, end: "none", reason: null, steps: 0, actions: [] };

/** Parses and proves a graph as a task file would hold it. */
export function graphOf(graph: unknown, options: LoadGraphOptions = {}): LoadedGraph {
  return loadGraph(parseOrThrow(graphNode, graph, "bad_task", ["graph"]), options);
}

/** A context over a scripted machine. */
export function contextOf(machine: MemorySandbox, more: Partial<GradeContext> = {}): GradeContext {
  return { fork: () => machine.fork("grade"), episode: silent, ...more };
}

/** Grades one graph on one scripted machine. */
export function grade(
  graph: unknown,
  machine: MemoryMachine | MemorySandbox = {},
  more: Partial<GradeContext> = {},
): Promise<Verdict> {
  const sandbox = machine instanceof MemorySandbox ? machine : new MemorySandbox(machine);
  return evaluateGraph(graphOf(graph), contextOf(sandbox, more));
}

/** The verdict without its times. */
export function timeless(verdict: Verdict): Verdict {
  return { ...verdict, checks: verdict.checks.map((check) => ({ ...check, ms: 0 })) };
}

/** One check of a file's text. */
export function textCheck(id: string, path: string, assert: object, more: object = {}): object {
  return { id, channel: "fs", query: { kind: "text", path }, assert: { type: "text", ...assert }, ...more };
}

/** A check on the answer, the cheapest there is. */
export function answerCheck(id: string, equals: string, more: object = {}): object {
  return { id, channel: "episode", query: { kind: "answer" }, assert: { type: "text", equals }, ...more };
}
