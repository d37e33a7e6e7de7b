/** A scorer node under evaluation: its input is fetched, and a verifier thread scores it. */
import { ShinkenError } from "../../errors/index.js";
import type { Json } from "../assertions/json-value.js";
import { splitLines } from "../assertions/text.js";
import { type ChannelQuery, wantsOwnFork } from "../channels/schema.js";
import { show } from "../evidence.js";
import type { LeafAccess, LeafPlan } from "../leaf.js";
import { parseJson } from "../parse/json.js";
import { decodeText } from "../parse/text.js";
import { scoreInPool } from "../pool.js";
import type { ScorerNode } from "../schema.js";
import { type Answer, ContentFault, type Judgement } from "../value.js";
import { filledIn, type InputReference, referencesOf } from "./schema.js";

/** How a scorer node is evaluated. */
export function scorerPlan(node: ScorerNode): LeafPlan {
  const references = referencesOf(node.input);
  const queries = references.flatMap(({ reference }) => ("from" in reference ? [reference.from] : []));
  return {
    ahead: queries[0],
    ownFork: queries.some(wantsOwnFork),
    wantHash: false,
    work: async (access) => {
      const places = new Map<string, Json>();
      for (const { path, reference } of references) {
        const value = await fetched(reference, access);
        if ("missing" in value) return { score: 0, evidence: `${path.join(".")}: ${value.missing}` };
        places.set(JSON.stringify(path), value.found);
      }
      return score(node.scorer, filledIn(node.input, places), access);
    },
  };
}

async function score(id: string, input: Json, access: LeafAccess): Promise<Judgement> {
  const { scorers } = access;
  if (scorers === undefined) throw new ShinkenError("grader_error", `no library holds the scorer ${id}`);
  const reply = await scoreInPool(scorers.threadFile(), id, input, access.signal);
  if ("score" in reply)
    return { score: reply.score, evidence: `${id} scores ${reply.score} for ${show(input)}` };
  const fault = new ContentFault(`${id}: ${reply.fault}, for ${show(input)}`);
  fault.open = reply.open;
  throw fault;
}

async function fetched(
  reference: InputReference,
  access: LeafAccess,
): Promise<{ found: Json } | { missing: string }> {
  if ("literal" in reference) return { found: reference.literal };
  if ("asset" in reference) {
    const what = `the asset ${reference.asset}`;
    const text = decodeText(await access.readAsset(reference.asset), what);
    if (reference.as === "json") return { found: parseJson(text, what) };
    return { found: reference.as === "lines" ? splitLines(text) : text };
  }
  const answer = await access.read(reference.from);
  if (!("absent" in answer)) return { found: plain(answer, reference.from) };
  return reference.absent === undefined ? { missing: answer.absent } : { found: reference.absent };
}

/** An answer as a scorer takes it; of a table the rows. */
function plain(answer: Exclude<Answer, { absent: string }>, query: ChannelQuery): Json {
  switch (answer.type) {
    case "text":
    case "number":
    case "json":
    case "list":
      return answer.value;
    case "table":
      return answer.rows;
    default:
      throw new Error(`a proved graph gives ${answer.type} of ${query.channel} to a scorer`);
  }
}
