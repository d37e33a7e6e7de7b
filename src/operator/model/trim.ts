/** What is left out of a conversation that has grown too long, by a rule that needs nothing but the conversation. */
import { cutMiddle } from "../../env/aci/index.js";
import { ShinkenError } from "../../errors/index.js";
import { type ChatMessage, type Conversation, type Exchange, openingOf } from "./conversation.js";
import type { Dialect } from "./dialects/index.js";
import { tokensOfMessage, tokensOfMessages } from "./tokens.js";

/** Once something must go, so much of the room is left free that it is not the same again after the next step. */
const keptShare = 3 / 4;
/** Results are cut to no less than this; shorter ones are left out. */
const shortestCut = 256;

/** System prompt, instruction, and every reply with what came of it. */
export function messagesOf(conversation: Conversation, dialect: Dialect): ChatMessage[] {
  return [
    { role: "system", content: conversation.system },
    { role: "user", content: openingOf(conversation) },
    ...conversation.exchanges.flatMap((exchange) => dialect.messages(exchange)),
  ];
}

/**
 * A conversation of at most `room` tokens by our own estimate; the same one if it fits. Else, until three quarters of the room
 * are enough: results of all replies but the last become one line each, oldest first; then whole replies but the last go, oldest
 * first, each with its results. What is still above the room then is taken from the last reply's results, the longest one halved
 * in its middle again and again, and at last that reply goes as well. System prompt and instruction stay.
 * Throws `model_refused` where these two alone do not fit.
 */
export function trim(conversation: Conversation, dialect: Dialect, room: number): Conversation {
  const fits = sizer(dialect);
  if (fits(conversation, room)) return conversation;
  const wanted = room * keptShare;
  let trimmed = conversation;
  for (let at = 0; at < conversation.exchanges.length - 1; at += 1) {
    trimmed = replaced(trimmed, at, (one) => ({ ...one, answers: one.answers.map(noteFor) }));
    if (fits(trimmed, wanted)) return trimmed;
  }
  while (trimmed.exchanges.length > 1) {
    trimmed = { ...trimmed, exchanges: trimmed.exchanges.slice(1), dropped: trimmed.dropped + 1 };
    if (fits(trimmed, wanted)) return trimmed;
  }
  while (trimmed.exchanges.length > 0 && !fits(trimmed, room)) {
    const shorter = replaced(trimmed, 0, halved);
    trimmed =
      shorter.exchanges[0] === trimmed.exchanges[0]
        ? { ...trimmed, exchanges: [], dropped: trimmed.dropped + 1 }
        : shorter;
  }
  if (fits(trimmed, room)) return trimmed;
  throw new ShinkenError(
    "model_refused",
    `system prompt and instruction take more than the ${Math.floor(room)} tokens that the context has for them`,
    { path: "context_tokens", suggestion: "give the model more context, or less to write" },
  );
}

/** Exchanges are never changed, so each is measured once. */
function sizer(dialect: Dialect): (conversation: Conversation, room: number) => boolean {
  const known = new Map<Exchange, number>();
  const sizeOf = (exchange: Exchange): number => {
    const size = known.get(exchange) ?? tokensOfMessages(dialect.messages(exchange));
    known.set(exchange, size);
    return size;
  };
  return (conversation, room) => {
    const head =
      tokensOfMessage({ role: "system", content: conversation.system }) +
      tokensOfMessage({ role: "user", content: openingOf(conversation) });
    return conversation.exchanges.reduce((sum, one) => sum + sizeOf(one), head) <= room;
  };
}

function replaced(
  conversation: Conversation,
  index: number,
  change: (exchange: Exchange) => Exchange,
): Conversation {
  return {
    ...conversation,
    exchanges: conversation.exchanges.map((one, at) => (at === index ? change(one) : one)),
  };
}

const noted = /^\[\d+ characters were left out here to save room\.\]$/;

/** The line that stands for a result; such a line, and a result that is no longer than it, stays. */
function noteFor(answer: string): string {
  if (noted.test(answer)) return answer;
  const note = `[${answer.length} characters were left out here to save room.]`;
  return note.length < answer.length ? note : answer;
}

/** With the longest answer cut to half; the same exchange where nothing is left to cut. */
function halved(exchange: Exchange): Exchange {
  const { answers } = exchange;
  const longest = answers.reduce(
    (best, one, at) => (one.length > (answers[best]?.length ?? 0) ? at : best),
    0,
  );
  const answer = answers[longest] ?? "";
  const half = Math.floor(answer.length / 2);
  const shorter = half < shortestCut ? noteFor(answer) : cutMiddle(answer, half).text;
  if (shorter.length >= answer.length) return exchange;
  return { ...exchange, answers: answers.map((one, at) => (at === longest ? shorter : one)) };
}
