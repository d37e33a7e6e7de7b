/** A check: read, fetch what is expected, judge. */
import { expectedPlaces } from "./assertions/expected-schema.js";
import { isHeavy, judge } from "./assertions/judge.js";
import type { Assertion } from "./assertions/schema.js";
import { type ChannelQuery, wantsOwnFork } from "./channels/schema.js";
import { ground, referenceOf } from "./expected.js";
import type { LeafPlan } from "./leaf.js";
import { judgeInPool } from "./pool.js";
import type { CheckNode } from "./schema.js";

/** How a check is evaluated. */
export function checkPlan(check: CheckNode): LeafPlan {
  const query = { channel: check.channel, query: check.query } as ChannelQuery;
  return {
    ahead: query,
    ownFork: check.mutates || queriesOf(check, query).some(wantsOwnFork),
    wantHash: wantsHash(check.assert),
    work: async (access) => {
      const answer = await access.read(query);
      const assertion = await ground(check.assert, access);
      if (!isHeavy(assertion, answer)) return judge(assertion, answer);
      return judgeInPool(assertion, answer, access.signal);
    },
  };
}

/** The check's query and those of its expected values. */
function queriesOf(check: CheckNode, query: ChannelQuery): ChannelQuery[] {
  const queries = [query];
  for (const { value } of expectedPlaces(check.assert)) {
    const reference = referenceOf(value);
    if (reference !== undefined && "from" in reference) queries.push(reference.from);
  }
  return queries;
}

function wantsHash(assertion: Assertion): boolean {
  return assertion.type === "file" && assertion.sha256 !== undefined;
}
