/** A judge node: evidence out of the fork, a quorum of votes, and a tree of criteria. */
import { ShinkenError } from "../../errors/index.js";
import { type ChannelQuery, onlyLooks } from "../channels/schema.js";
import type { LeafAccess, LeafPlan } from "../leaf.js";
import type { JudgeNode } from "../schema.js";
import { ContentFault, type Judgement } from "../value.js";
import type { Exhibit } from "./prompt.js";
import { renderAnswer, rendered } from "./render.js";
import { type Question, questionsOf } from "./schema.js";
import { treeScore } from "./tree.js";
import { castVote, type Vote } from "./vote.js";

/** What a verdict keeps of a judge's work. */
export interface JudgeRecord {
  model: string;
  /** Votes asked for, and those that counted. */
  quorum: number;
  votes: number;
  /** `met`: null where there is no majority. */
  criteria: { id: string; met: boolean | null; votes_for: number; reasons: string[]; quotes: string[] }[];
  prompt_tokens: number;
  completion_tokens: number;
  /** US dollars; null where the price is not known. */
  cost: number | null;
}

/** How a judge node is evaluated. */
export function judgePlan(node: JudgeNode): LeafPlan {
  const queries = node.judge.evidence.map(({ channel, query }) => ({ channel, query }) as ChannelQuery);
  return {
    ahead: undefined,
    ownFork: queries.some((query) => !onlyLooks(query)),
    wantHash: true,
    work: (access) => judgeWith(node, queries, access),
  };
}

async function judgeWith(
  node: JudgeNode,
  queries: readonly ChannelQuery[],
  access: LeafAccess,
): Promise<Judgement> {
  const { judge } = access;
  if (judge === undefined)
    throw new ShinkenError("judge_failed", "no judge is configured", {
      suggestion: "set SHINKEN_JUDGE_URL and SHINKEN_JUDGE_MODEL",
    });
  const spec = node.judge;
  const exhibits: Exhibit[] = [
    { name: "answer", content: rendered(access.episode.answer ?? "(none)") },
    { name: "end", content: access.episode.end },
  ];
  for (const [index, query] of queries.entries()) {
    const name = spec.evidence[index]?.name ?? "";
    exhibits.push({ name, content: renderAnswer(await access.read(query)) });
  }
  const questions = questionsOf(spec.criteria);
  const quorum = spec.quorum ?? access.quorum;
  const votes = await Promise.all(
    Array.from({ length: quorum }, (_, seed) =>
      castVote({
        judge,
        questions,
        exhibits,
        tools: spec.tools,
        look: async (query) => {
          if (!onlyLooks(query)) throw new ContentFault(`the channel ${query.channel} does not only look`);
          return {
            name: `${query.channel}/${query.query.kind}`,
            content: renderAnswer(await access.read(query)),
          };
        },
        seed,
        signal: access.signal,
      }),
    ),
  );
  return decide(node, questions, quorum, votes);
}

/** The majority of the whole quorum must agree on every criterion; a vote that does not count is nobody's. */
function decide(
  node: JudgeNode,
  questions: readonly Question[],
  quorum: number,
  votes: readonly Vote[],
): Judgement {
  const valid = votes.flatMap(({ said }) => (said === null ? [] : [said]));
  const met = new Map<string, boolean>();
  const criteria = questions.map(({ id }) => {
    const said = valid.flatMap((vote) => vote.get(id) ?? []);
    const yes = said.filter((one) => one.met);
    const agreed = Math.max(yes.length, said.length - yes.length);
    const holds = agreed * 2 <= quorum ? null : yes.length * 2 > quorum;
    met.set(id, holds === true);
    const telling = holds === null ? said : said.filter((one) => one.met === holds);
    return {
      id,
      met: holds,
      votes_for: yes.length,
      reasons: telling.map(({ reason }) => rendered(reason)),
      quotes: telling.map(({ quote }) => quote).filter((quote) => quote !== ""),
    };
  });
  const costs = votes.map(({ cost }) => cost);
  const record: JudgeRecord = {
    model: votes[0]?.model ?? "",
    quorum,
    votes: valid.length,
    criteria,
    prompt_tokens: votes.reduce((sum, { promptTokens }) => sum + promptTokens, 0),
    completion_tokens: votes.reduce((sum, { completionTokens }) => sum + completionTokens, 0),
    cost: costs.every((cost) => cost === null)
      ? null
      : costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0),
  };
  const open = criteria.find((one) => one.met === null);
  if (open !== undefined) {
    const why = votes.find((vote) => vote.said === null)?.why;
    const doubt = why === undefined ? "" : `: ${why}`;
    const fault = new ContentFault(
      `the judge is undecided about ${open.id}: ${valid.length} of ${quorum} votes count${doubt}`,
    );
    fault.judge = record;
    throw fault;
  }
  const score = treeScore(node.judge.order, node.judge.criteria, met);
  const evidence = criteria
    .map(({ id, met: holds, reasons }) => `${id} ${holds === true ? "met" : "not met"}: ${reasons[0] ?? ""}`)
    .join("; ");
  return { score, evidence, judge: record };
}
