/** What is proved of a graph before any machine starts. Every fault names its place. */
import { nearest } from "../../errors/nearest.js";
import { formatPath } from "../../errors/parse.js";
import { channelNames } from "../channels/schema.js";
import {
  childrenOf,
  type CodeNode,
  combinationKind,
  type GraphNode,
  isCheck,
  isJudge,
  isLeaf,
  isScorer,
} from "../schema.js";
import { proveAsset, proveChannel } from "./channels.js";
import { proveCheck } from "./check.js";
import { fault, type Path, type ProofContext } from "./fault.js";
import { proveJudge, proveJudgesPlace } from "./judge.js";
import { proveScorer } from "./scorer.js";

/** Nesting and size beyond which a graph is a mistake or an attack. */
const MAX_DEPTH = 32;
const MAX_NODES = 2_000;

export interface Proven {
  nodes: Map<string, GraphNode>;
}

interface Placed {
  node: GraphNode;
  path: Path;
}

/** Proves a graph. Throws `bad_task` for the first fault in graph order. */
export function prove(root: GraphNode, context: Partial<ProofContext> = {}): Proven {
  const placed: Placed[] = [];
  const named = new Map<string, Placed>();
  const visit = (node: GraphNode, path: Path, depth: number): void => {
    if (depth > MAX_DEPTH) throw fault(path, `nested deeper than ${MAX_DEPTH}`);
    if (placed.length >= MAX_NODES) throw fault(path, `more than ${MAX_NODES} nodes`);
    placed.push({ node, path });
    if (node.id !== undefined) {
      const first = named.get(node.id);
      if (first !== undefined) {
        throw fault([...path, "id"], `"${node.id}" is already the id of ${formatPath(first.path)}`);
      }
      named.set(node.id, { node, path });
    }
    if (isLeaf(node)) return;
    const kind = combinationKind(node);
    childrenOf(node).forEach((child, index) => {
      visit(child, kind === "not" ? [...path, kind] : [...path, kind, index], depth + 1);
    });
  };
  visit(root, context.at ?? ["graph"], 0);
  for (const { node, path } of placed) {
    proveNeeds(node, path, named);
    if (isLeaf(node) && node.revocable && !node.milestone)
      throw fault([...path, "revocable"], "only a milestone can be revocable");
    if (isLeaf(node)) proveMachine(node.machine, [...path, "machine"], context);
    if (isLeaf(node) && node.dense && !node.milestone)
      throw fault([...path, "dense"], "only a milestone can be dense");
    if (isCheck(node)) proveCheck(node, path, context);
    else if (isJudge(node)) proveJudge(node, path, context);
    else if (isScorer(node)) proveScorer(node, path, context);
    else if (isLeaf(node)) proveCode(node, path, context);
    else proveJudgesPlace(node, path);
  }
  proveAcyclic(placed, named);
  const total = placed.reduce((sum, { node }) => sum + node.weight, 0);
  if (!Number.isFinite(total)) throw fault(context.at ?? ["graph"], "the sum of all weights is not finite");
  return { nodes: new Map([...named].map(([id, { node }]) => [id, node])) };
}

function proveMachine(name: string | undefined, path: Path, context: Partial<ProofContext>): void {
  const machines = context.machines ?? [];
  if (name === undefined || machines.includes(name)) return;
  const meant = nearest(name, machines);
  throw fault(path, `there is no service "${name}"`, meant && `did you mean "${meant}"?`);
}

function proveNeeds(node: GraphNode, path: Path, named: Map<string, Placed>): void {
  node.needs.forEach((id, index) => {
    if (named.has(id)) return;
    const meant = nearest(id, named.keys());
    throw fault([...path, "needs", index], `there is no node "${id}"`, meant && `did you mean "${meant}"?`);
  });
}

/** A node waits for what it needs and for its children; no chain of waiting may close. */
function proveAcyclic(placed: readonly Placed[], named: Map<string, Placed>): void {
  const state = new Map<GraphNode, "open" | "done">();
  const paths = new Map(placed.map(({ node, path }) => [node, path]));
  const enter = (node: GraphNode, chain: string[]): void => {
    if (state.get(node) === "done") return;
    if (state.get(node) === "open") {
      throw fault(
        [...(paths.get(node) ?? []), "needs"],
        `waits for itself: ${[...chain, label(node)].join(" -> ")}`,
      );
    }
    state.set(node, "open");
    for (const child of childrenOf(node)) enter(child, [...chain, label(node)]);
    for (const id of node.needs) {
      const needed = named.get(id);
      if (needed !== undefined) enter(needed.node, [...chain, label(node)]);
    }
    state.set(node, "done");
  };
  for (const { node } of placed) enter(node, []);
}

function label(node: GraphNode): string {
  return node.id ?? (isLeaf(node) ? "check" : combinationKind(node));
}

function proveCode(node: CodeNode, path: Path, context: Partial<ProofContext>): void {
  proveAsset(node.code.module, [...path, "code", "module"], context);
  const offered = context.channels ?? channelNames;
  node.code.channels.forEach((channel, index) => {
    proveChannel(channel, [...path, "code", "channels", index], offered);
  });
}
