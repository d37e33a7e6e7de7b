/** One judgement of all criteria by a model: it may look, it must answer in the schema's form, and it must not be led. */
import { z } from "zod";
import type { ChannelQuery } from "../channels/schema.js";
import { channelQuery } from "../channels/schema.js";
import { parseOrThrow } from "../../errors/parse.js";
import { ContentFault } from "../value.js";
import type { JudgeMessage, JudgeModel, JudgeReply } from "./model.js";
import { controlOf, type Exhibit, lookTool, promptOf, replySchema, withControl } from "./prompt.js";
import type { Question } from "./schema.js";
import { rendered } from "./render.js";

/** Replies of one vote that may be malformed. */
const MALFORMED_LIMIT = 1;
/** Times that one vote may look. */
const LOOK_LIMIT = 16;

/** Characters of a quote, unless it is a whole line of the evidence. */
const QUOTE_LEAST = 8;

const isLineOf = (text: string, quote: string): boolean =>
  text.split("\n").some((line) => line.trim() === quote.trim());

export interface Said {
  met: boolean;
  reason: string;
  quote: string;
}

export interface Vote {
  /** Null where the vote does not count; `why` says it. */
  said: ReadonlyMap<string, Said> | null;
  why: string;
  model: string;
  promptTokens: number;
  completionTokens: number;
  cost: number | null;
}

export interface VoteInput {
  judge: JudgeModel;
  questions: readonly Question[];
  exhibits: readonly Exhibit[];
  /** Channels that it may look through. */
  tools: readonly string[];
  look(query: ChannelQuery): Promise<Exhibit>;
  seed: number;
  signal: AbortSignal;
}

const replyForm = z.strictObject({
  criteria: z.array(
    z.strictObject({
      id: z.string(),
      reason: z.string().max(10_000),
      quote: z.string().max(10_000),
      met: z.boolean(),
    }),
  ),
});

/** Casts one vote. Rejects only where the endpoint fails or the signal aborts. */
export async function castVote(input: VoteInput): Promise<Vote> {
  const control = controlOf(input.exhibits, input.seed);
  const questions = withControl(input.questions, control, input.seed);
  const messages = promptOf(questions, input.exhibits);
  const shown = input.exhibits.map(({ content }) => content);
  const vote: Vote = {
    said: null,
    why: "",
    model: input.judge.model,
    promptTokens: 0,
    completionTokens: 0,
    cost: null,
  };
  let malformed = 0;
  let looks = 0;
  for (;;) {
    const mayLook = input.tools.length > 0 && looks < LOOK_LIMIT;
    const reply = await input.judge.ask(
      {
        messages,
        schema: replySchema(questions),
        tools: mayLook ? [lookTool(input.tools)] : [],
        seed: input.seed,
      },
      input.signal,
    );
    account(vote, reply);
    if (mayLook && reply.toolCalls.length > 0) {
      messages.push({ role: "assistant", content: reply.content ?? "", toolCalls: reply.toolCalls });
      for (const call of reply.toolCalls) {
        looks++;
        const content = looks > LOOK_LIMIT ? "no more looks" : await lookAt(input, call.arguments, shown);
        messages.push({ role: "tool", toolCallId: call.id, content });
      }
      continue;
    }
    const { said, why } = read(reply.content, questions, shown);
    if (said !== null) return counted(vote, said, control);
    vote.why = why;
    malformed++;
    if (malformed > MALFORMED_LIMIT) return vote;
    messages.push(
      { role: "assistant", content: reply.content ?? "" },
      { role: "user", content: `That reply cannot be read: ${why}. Reply again, in the given form.` },
    );
  }
}

function account(vote: Vote, reply: JudgeReply): void {
  vote.model = reply.model;
  vote.promptTokens += reply.promptTokens;
  vote.completionTokens += reply.completionTokens;
  if (reply.cost !== null) vote.cost = (vote.cost ?? 0) + reply.cost;
}

/** A vote that finds the control met follows orders of the evidence, or does not read it: it does not count. */
function counted(vote: Vote, said: Map<string, Said>, control: Question): Vote {
  if (said.get(control.id)?.met === true)
    return {
      ...vote,
      why: "the judge says that something is there which is not: it was led, or did not read",
    };
  said.delete(control.id);
  return { ...vote, said, why: "" };
}

async function lookAt(input: VoteInput, text: string, shown: string[]): Promise<string> {
  try {
    const query = parseOrThrow(channelQuery, JSON.parse(text), "bad_request", ["look"]);
    if (!input.tools.includes(query.channel))
      return JSON.stringify({ error: `the channel must be one of ${input.tools.join(", ")}` });
    const exhibit = await input.look(query);
    shown.push(exhibit.content);
    return JSON.stringify(exhibit);
  } catch (error) {
    input.signal.throwIfAborted();
    const told = error instanceof ContentFault || error instanceof SyntaxError || isBadRequest(error);
    if (!told) throw error;
    return JSON.stringify({ error: error instanceof Error ? rendered(error.message) : "it cannot be read" });
  }
}

function isBadRequest(error: unknown): boolean {
  return typeof error === "object" && error !== null && "code" in error && error.code === "bad_request";
}

/** Reads a reply strictly: one JSON object, every criterion once, quotes that are there. */
function read(
  content: string | null,
  questions: readonly Question[],
  shown: readonly string[],
): { said: Map<string, Said> | null; why: string } {
  const bad = (why: string) => ({ said: null, why });
  if (content === null) return bad("it is empty");
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch {
    return bad("it is not one JSON object");
  }
  const parsed = replyForm.safeParse(value);
  if (!parsed.success) return bad("it does not have the given form");
  const said = new Map<string, Said>();
  for (const { id, ...rest } of parsed.data.criteria) {
    if (said.has(id)) return bad(`the criterion ${JSON.stringify(id)} appears twice`);
    said.set(id, rest);
  }
  for (const question of questions) {
    const one = said.get(question.id);
    if (one === undefined) return bad(`the criterion ${JSON.stringify(question.id)} is missing`);
    if (!one.met || !question.quote) continue;
    if (one.quote === "") return bad(`the criterion ${JSON.stringify(question.id)} is met without a quote`);
    if (!shown.some((text) => text.includes(one.quote)))
      return bad(`the quote of ${JSON.stringify(question.id)} is not in the evidence`);
    if (one.quote.trim().length < QUOTE_LEAST && !shown.some((text) => isLineOf(text, one.quote)))
      return bad(`the quote of ${JSON.stringify(question.id)} is too short to point at anything`);
  }
  if (said.size !== questions.length) return bad("it names criteria that were not asked");
  return { said, why: "" };
}

export type { JudgeMessage };
