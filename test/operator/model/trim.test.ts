import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ChatMessage, Conversation, Exchange } from "../../../src/operator/model/conversation.js";
import { type Dialect, dialects } from "../../../src/operator/model/dialects/index.js";
import { tokensOfMessages } from "../../../src/operator/model/tokens.js";
import { messagesOf, trim } from "../../../src/operator/model/trim.js";

const { tools, text } = dialects;
const names = ["exec", "shell", "read_file"];

const word = fc.oneof(fc.string({ unit: "grapheme", maxLength: 40 }), fc.string({ maxLength: 3_000 }));
const long = fc.tuple(word, fc.nat(40)).map(([one, times]) => one.repeat(times));

/** Exchanges as a dialect makes them: with calls, without any, with results of all lengths. */
function exchanges(dialect: Dialect): fc.Arbitrary<Exchange[]> {
  const calls = fc.array(fc.tuple(fc.constantFrom(...names), word), { maxLength: 3 });
  return fc.array(
    fc.tuple(word, calls, fc.array(long, { minLength: 3, maxLength: 3 })).map(([content, made, results]) => {
      const blocks = made.map(
        ([name, given]) => `\n\`\`\`json\n${JSON.stringify({ name, arguments: { given } })}\n\`\`\`\n`,
      );
      const said = dialect === text ? content.replaceAll("`", "'") + blocks.join("") : content;
      const native = made.map(([name, given], at) => ({
        id: `id-${at}`,
        name,
        arguments: JSON.stringify({ given }),
      }));
      const read = dialect.calls({ content: said, calls: native }, "call");
      const answers = dialect.answers(read, results.slice(0, Math.max(1, read.length)));
      return { content: said, calls: read, answers };
    }),
    { maxLength: 12 },
  );
}

const conversations = (dialect: Dialect): fc.Arbitrary<Conversation> =>
  exchanges(dialect).map((made) => ({
    system: "Be good.",
    instruction: "Do it.",
    dropped: 0,
    exchanges: made,
  }));

/** Every result stands behind the reply that called for it, every call has its result, and nothing else is there. */
function isWhole(messages: readonly ChatMessage[]): boolean {
  const waiting: string[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      if (waiting.shift() !== message.tool_call_id) return false;
    } else if (waiting.length > 0) return false;
    if (message.role === "assistant") waiting.push(...(message.tool_calls ?? []).map(({ id }) => id));
  }
  return waiting.length === 0;
}

describe.each([tools, text])("trimming in the dialect $name", (dialect) => {
  const room = fc.integer({ min: 60, max: 20_000 });
  const trimmed = fc.tuple(conversations(dialect), room);

  it("always fits, keeps the system prompt and the instruction, and parts no call from its result", () => {
    fc.assert(
      fc.property(trimmed, ([conversation, limit]) => {
        const messages = messagesOf(trim(conversation, dialect, limit), dialect);
        expect(tokensOfMessages(messages)).toBeLessThanOrEqual(limit);
        expect(messages[0]).toEqual({ role: "system", content: "Be good." });
        expect(messages[1]?.role).toBe("user");
        expect(messages[1]?.content?.startsWith("Do it.")).toBe(true);
        expect(isWhole(messages)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it("changes nothing where there is room, gives the same each time, and leaves what it trimmed alone", () => {
    fc.assert(
      fc.property(trimmed, ([conversation, limit]) => {
        const once = trim(conversation, dialect, limit);
        expect(trim(conversation, dialect, limit)).toEqual(once);
        expect(trim(once, dialect, limit)).toBe(once);
        if (tokensOfMessages(messagesOf(conversation, dialect)) <= limit) expect(once).toBe(conversation);
      }),
      { numRuns: 200 },
    );
  });

  it("loses no reply without saying how many", () => {
    fc.assert(
      fc.property(trimmed, ([conversation, limit]) => {
        const { exchanges: left, dropped } = trim(conversation, dialect, limit);
        expect(left.length + dropped).toBe(conversation.exchanges.length);
        expect(left.map(({ content }) => content)).toEqual(
          conversation.exchanges.slice(dropped).map(({ content }) => content),
        );
      }),
    );
  });

  it("gives messages that are read back as they were", () => {
    fc.assert(
      fc.property(exchanges(dialect), (made) => {
        const read = dialect.read(made.flatMap((one) => dialect.messages(one)));
        const plain = (all: readonly Exchange[] | null) =>
          all?.map(({ content, calls, answers }) => [
            content,
            calls.map((one) => [one.name, one.arguments]),
            answers,
          ]);
        expect(plain(read)).toEqual(plain(made));
      }),
    );
  });
});

describe("what goes first", () => {
  const exchange = (n: number, length: number): Exchange => ({
    content: `reply ${n}`,
    calls: [{ id: `c${n}`, name: "exec", arguments: "{}" }],
    answers: ["x".repeat(length)],
  });
  const of = (lengths: readonly number[]): Conversation => ({
    system: "S",
    instruction: "I",
    dropped: 0,
    exchanges: lengths.map((length, at) => exchange(at, length)),
  });
  const note = (length: number) => `[${length} characters were left out here to save room.]`;

  it("are the oldest results, one line each, until a quarter of the room is free", () => {
    const { exchanges: left, dropped } = trim(of([3_000, 3_000, 3_000, 3_000]), tools, 4_000);
    expect(left.map(({ answers }) => answers[0])).toEqual([
      note(3_000),
      note(3_000),
      "x".repeat(3_000),
      "x".repeat(3_000),
    ]);
    expect(dropped).toBe(0);
  });

  it("are whole replies then, and the model is told how many", () => {
    const conversation = trim(of(Array<number>(40).fill(3_000)), tools, 2_000);
    expect(conversation.dropped).toBeGreaterThan(0);
    expect(conversation.exchanges.at(-1)?.answers[0]).toBe("x".repeat(3_000));
    expect(messagesOf(conversation, tools)[1]?.content).toBe(
      `I\n\n[${conversation.dropped} of your replies that followed here, and their results, were left out to save room.]`,
    );
  });

  it("is the middle of the last result, if that alone is too long", () => {
    const conversation = trim(of([100, 60_000]), tools, 2_000);
    expect(conversation.exchanges).toHaveLength(1);
    expect(conversation.exchanges[0]?.answers[0]).toMatch(
      /^x+\n\[\.\.\. \d+ characters left out \.\.\.\]\nx+$/,
    );
  });

  it("is nothing of the instruction: without room for it the endpoint need not be asked", () => {
    expect(() => trim({ ...of([]), instruction: "x".repeat(900) }, tools, 100)).toThrow(
      /take more than the 100 tokens/,
    );
  });
});
