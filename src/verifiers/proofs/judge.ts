/** A judge asks what it may, once, and where it cannot overrule a program. */
import { type ChannelQuery, channelNames, channels } from "../channels/schema.js";
import type { Criterion } from "../judge/schema.js";
import { type CombinationNode, isJudge, type JudgeNode } from "../schema.js";
import { proveChannel, proveQuery } from "./channels.js";
import { fault, type Path, type ProofContext } from "./fault.js";

/** Proves a judge node. Throws `bad_task`. */
export function proveJudge(node: JudgeNode, path: Path, context: Partial<ProofContext>): void {
  const { evidence, tools, criteria } = node.judge;
  const offered = context.channels ?? channelNames;
  if (node.milestone)
    throw fault([...path, "milestone"], "a judge is no milestone: it would be asked after every step");
  evidence.forEach(({ channel, query }, index) => {
    proveQuery({ channel, query } as ChannelQuery, [...path, "judge", "evidence", index], offered, context);
  });
  tools.forEach((channel, index) => {
    const at = [...path, "judge", "tools", index];
    proveChannel(channel, at, offered);
    if (!channels[channel].onlyLooks) throw fault(at, `the channel "${channel}" does not only look`);
  });
  const seen = new Set<string>();
  const visit = (list: readonly Criterion[], at: Path): void => {
    list.forEach((one, index) => {
      const place = [...at, index];
      if (seen.has(one.id)) throw fault([...place, "id"], `"${one.id}" is already the id of a criterion`);
      seen.add(one.id);
      if ("criteria" in one) visit(one.criteria, [...place, "criteria"]);
    });
  };
  visit(criteria, [...path, "judge", "criteria"]);
}

/** Beside programs in `any` a judge could only overrule them, which it must not: it would never count. */
export function proveJudgesPlace(node: CombinationNode, path: Path): void {
  if (!("any" in node)) return;
  const judge = node.any.findIndex(isJudge);
  if (judge === -1 || node.any.every(isJudge)) return;
  throw fault(
    [...path, "any", judge],
    "a judge may not overrule a program",
    "use fallback: the judge is asked where the programs cannot tell",
  );
}
