/** A scorer is there, takes the input that it is given, and is told something of the machine or the episode. */
import { nearest } from "../../errors/nearest.js";
import { faultsBut } from "../../errors/parse.js";
import type { ResultType } from "../channels/describe.js";
import { channelNames, resultType } from "../channels/schema.js";
import type { ScorerNode } from "../schema.js";
import { referencesOf } from "../scorer/schema.js";
import { proveAsset, proveQuery } from "./channels.js";
import { fault, type Path, type ProofContext } from "./fault.js";

/** Results that JSON cannot hold. */
const foreign: readonly ResultType[] = ["bytes", "file", "image"];

/** Proves a scorer node. Throws `bad_task`. */
export function proveScorer(node: ScorerNode, path: Path, context: Partial<ProofContext>): void {
  const input = inputOf(node.scorer, [...path, "scorer"], context);
  const at = [...path, "input"];
  const references = referencesOf(node.input, at);
  if (!references.some(({ reference }) => "from" in reference))
    throw fault(
      at,
      "nothing in it is read: the score would always be the same",
      "say {from: {channel, query}}",
    );
  for (const { path: place, reference } of references) {
    if ("asset" in reference) proveAsset(reference.asset, [...place, "asset"], context);
    if (!("from" in reference)) continue;
    proveQuery(reference.from, [...place, "from"], context.channels ?? channelNames, context);
    const type = resultType(reference.from);
    if (foreign.includes(type))
      throw fault([...place, "from"], `it returns ${type}, which is no value of JSON`);
  }
  const open = references.map(({ path: place }) => place.slice(at.length));
  const wrong = faultsBut(input, node.input, open, "bad_task", at);
  if (wrong !== undefined) throw wrong;
}

function inputOf(id: string, path: Path, { scorers }: Partial<ProofContext>) {
  if (scorers === undefined)
    throw fault(
      path,
      "whoever loads this task gave it no scorers",
      "loadTasks(folder, { scorers: publishedScorers })",
    );
  const input = scorers.inputOf(id);
  if (input !== undefined) return input;
  const versions = scorers.ids.filter((one) => one.startsWith(`${id}.`) || one.startsWith(`${id}/`));
  const names = new Set(scorers.ids.map((one) => one.replace(/\.v\d+\/.*$/, "")));
  const meant = nearest(id, scorers.ids) ?? nearest(id, names);
  throw fault(
    path,
    `there is no scorer "${id}" that grades`,
    versions.length > 0 ? `there are ${versions.join(", ")}` : meant && `did you mean "${meant}"?`,
  );
}
