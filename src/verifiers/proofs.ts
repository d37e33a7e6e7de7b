/** What is proved of a graph before any machine starts. Every fault names its place. */
import { ShinkenError } from "../errors/index.js";
import { nearest } from "../errors/nearest.js";
import { formatPath } from "../errors/parse.js";
import type { Assertion, AssertionType } from "./assertions/schema.js";
import { canonicalJson } from "./canonical.js";
import type { ResultType } from "./channels/describe.js";
import { assetsOf, type ChannelQuery, channelNames, resultType } from "./channels/schema.js";
import {
  type CheckNode,
  childrenOf,
  combinationKind,
  type CodeNode,
  type GraphNode,
  isCheck,
  isLeaf,
} from "./schema.js";

type Path = (string | number)[];

export interface ProofContext {
  /** Channels that the image offers to a grader. */
  channels: readonly string[];
  /** The task's assets. */
  assets: Record<string, { sha256: string; for: "setup" | "grading" }>;
  /** Path that stands before the graph's own. */
  at: Path;
}

/** Nesting and size beyond which a graph is a mistake or an attack. */
const MAX_DEPTH = 32;
const MAX_NODES = 2_000;

const fits: Record<ResultType, readonly AssertionType[]> = {
  text: ["text"],
  number: ["number"],
  json: ["json"],
  table: ["table"],
  file: ["file"],
  list: ["list", "set"],
  bytes: ["bytes"],
  image: ["image"],
};

/** Separators by which foreign graders smuggle alternatives into a string; here they would never match. */
const FOREIGN_MARKERS = [" |OR| ", " |AND| "];

export interface Proven {
  nodes: Map<string, GraphNode>;
}

interface Placed {
  node: GraphNode;
  path: Path;
}

function fault(path: Path, why: string, suggestion?: string): ShinkenError {
  const at = formatPath(path);
  return new ShinkenError("bad_task", `${at}: ${why}`, { path: at, suggestion });
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
    if (isCheck(node)) proveCheck(node, path, context);
    else if (isLeaf(node)) proveCode(node, path, context);
  }
  proveAcyclic(placed, named);
  const total = placed.reduce((sum, { node }) => sum + node.weight, 0);
  if (!Number.isFinite(total)) throw fault(context.at ?? ["graph"], "the sum of all weights is not finite");
  return { nodes: new Map([...named].map(([id, { node }]) => [id, node])) };
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

function proveCheck(check: CheckNode, path: Path, context: Partial<ProofContext>): void {
  const channels = context.channels ?? channelNames;
  const query = { channel: check.channel, query: check.query } as ChannelQuery;
  proveQuery(query, path, channels, context);
  const type = resultType(query);
  if (!fits[type].includes(check.assert.type)) {
    throw fault(
      [...path, "assert", "type"],
      `a ${check.channel} query of kind "${check.query.kind}" returns ${type}, which "${check.assert.type}" does not judge`,
      `use "${fits[type].join('" or "')}"`,
    );
  }
  proveAssertion(check, type, path, channels, context);
  refuseMarkers(check.assert, [...path, "assert"]);
}

function proveCode(node: CodeNode, path: Path, context: Partial<ProofContext>): void {
  proveAsset(node.code.module, [...path, "code", "module"], context);
  const offered = context.channels ?? channelNames;
  node.code.channels.forEach((channel, index) => {
    proveChannel(channel, [...path, "code", "channels", index], offered);
  });
}

function proveChannel(channel: string, path: Path, offered: readonly string[]): void {
  if (offered.includes(channel)) return;
  throw fault(
    path,
    `the channel "${channel}" is not available on this image`,
    `available: ${offered.length === 0 ? "none" : offered.join(", ")}`,
  );
}

function proveQuery(
  query: ChannelQuery,
  path: Path,
  channels: readonly string[],
  context: Partial<ProofContext>,
): void {
  proveChannel(query.channel, [...path, "channel"], channels);
  for (const asset of assetsOf(query)) proveAsset(asset.name, [...path, ...asset.path], context);
}

function proveAsset(name: string, path: Path, context: Partial<ProofContext>): void {
  const assets = context.assets ?? {};
  const asset = Object.hasOwn(assets, name) ? assets[name] : undefined;
  if (asset === undefined) {
    const meant = nearest(name, Object.keys(assets));
    throw fault(path, `there is no asset "${name}"`, meant && `did you mean "${meant}"?`);
  }
  if (asset.for !== "grading")
    throw fault(path, `the asset "${name}" is for setup; the agent may have seen it`);
}

function proveAssertion(
  check: CheckNode,
  type: ResultType,
  path: Path,
  channels: readonly string[],
  context: Partial<ProofContext>,
): void {
  for (const [key, value] of Object.entries(check.assert) as [string, unknown][]) {
    const at = [...path, "assert", key];
    if (key === "matches") provePatterns(value, at);
    if (typeof value !== "object" || value === null || Array.isArray(value)) continue;
    const keys = Object.keys(value);
    if (keys.length !== 1) continue;
    if (keys[0] === "asset") proveAsset((value as { asset: string }).asset, [...at, "asset"], context);
    if (keys[0] !== "from") continue;
    const from = (value as { from: ChannelQuery }).from;
    proveQuery(from, [...at, "from"], channels, context);
    proveExpectedType(from, key, type, [...at, "from"]);
    proveDifferentSource({ channel: check.channel, query: check.query } as ChannelQuery, from, [
      ...at,
      "from",
    ]);
  }
  proveRanges(check.assert, [...path, "assert"]);
}

function proveExpectedType(from: ChannelQuery, key: string, result: ResultType, path: Path): void {
  const wanted: ResultType = key === "lines" ? "list" : key === "sha256" ? "text" : result;
  const type = resultType(from);
  if (type !== wanted) throw fault(path, `the expected value is ${type}, but ${wanted} is needed`);
}

/** A value compared with itself always agrees: such a check can never fail. */
function proveDifferentSource(result: ChannelQuery, from: ChannelQuery, path: Path): void {
  const fileOf = (query: ChannelQuery): string | undefined =>
    "path" in query.query ? query.query.path : undefined;
  const same = canonicalJson(result) === canonicalJson(from);
  const file = fileOf(result);
  if (same || (file !== undefined && normalPath(file) === normalPath(fileOf(from) ?? ""))) {
    throw fault(path, "result and expected value come from the same file; the check could hardly fail");
  }
}

function normalPath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts.join("/");
}

function provePatterns(value: unknown, path: Path): void {
  const list = Array.isArray(value) ? value : [value];
  list.forEach((one: string | { pattern: string; flags: string }, index) => {
    const at = Array.isArray(value) ? [...path, index] : path;
    try {
      if (typeof one === "string") new RegExp(one, "u");
      else new RegExp(one.pattern, `u${one.flags}`);
    } catch (error) {
      throw fault(at, error instanceof Error ? error.message : "not a regular expression");
    }
  });
}

/** A range that nothing lies in is a check that can never pass. */
function proveRanges(assertion: Assertion, path: Path): void {
  const ranges: [Path, { min?: number | undefined; max?: number | undefined }][] = [];
  if (assertion.type === "number") {
    ranges.push([path, { min: assertion.min ?? assertion.above, max: assertion.max ?? assertion.below }]);
  }
  if (assertion.type === "table") {
    assertion.cells?.forEach((cell, index) => {
      const at = [...path, "cells", index];
      if (cell.equals === undefined && cell.min === undefined && cell.max === undefined) {
        throw fault(at, "needs equals, min or max");
      }
      ranges.push([at, cell]);
    });
  }
  const sized = assertion as Partial<Record<"size" | "length" | "row_count" | "width" | "height", unknown>>;
  for (const key of ["size", "length", "row_count", "width", "height"] as const) {
    const range = sized[key];
    if (typeof range !== "object" || range === null) continue;
    if (Object.values(range).every((one) => one === undefined))
      throw fault([...path, key], "needs equals, min or max");
    ranges.push([[...path, key], range]);
  }
  for (const [at, { min, max }] of ranges) {
    if (min !== undefined && max !== undefined && min > max)
      throw fault(at, "the range is empty: min is greater than max");
  }
}

function refuseMarkers(value: unknown, path: Path): void {
  if (typeof value === "string") {
    const marker = FOREIGN_MARKERS.find((one) => value.includes(one));
    if (marker === undefined) return;
    throw fault(
      path,
      `"${marker}" is a marker of a foreign format and would be compared as text`,
      "use any or one_of",
    );
  }
  if (typeof value !== "object" || value === null) return;
  for (const [key, field] of Object.entries(value)) {
    refuseMarkers(field, [...path, Array.isArray(value) ? Number(key) : key]);
  }
}
