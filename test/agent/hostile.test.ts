import { encode } from "@msgpack/msgpack";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ShinkenError } from "../../src/errors/index.js";
import {
  AgentClient,
  type AgentTransport,
  encodeFrame,
  type ExchangeRequest,
} from "../../src/sandbox/agent/index.js";

/** A guest that answers every exchange with what the test says. */
class ScriptedGuest implements AgentTransport {
  cancelled = false;
  readonly #answers: (stream: number) => Uint8Array[];

  constructor(answers: (stream: number) => Uint8Array[]) {
    this.#answers = answers;
  }

  exchange(request: ExchangeRequest, onFrame: (frame: Uint8Array) => void): Promise<{ reason: string }> {
    for (const frame of this.#answers(request.stream)) onFrame(frame);
    return Promise.resolve({ reason: this.cancelled ? "cancelled" : "reply" });
  }

  post(): void {}

  expectNobody(): void {}

  cancel(): void {
    this.cancelled = true;
  }
}

const reply = (stream: number, value: unknown, flags = 1): Uint8Array =>
  encodeFrame({ kind: 2, stream, flags, payload: encode(value) });
const data = (stream: number, op: number, payload: Uint8Array): Uint8Array =>
  encodeFrame({ kind: 3, stream, op, payload });
const ran = { exit: 0, signal: null, timedOut: false, oomKilled: false, dropped: [0, 0], us: 5 };
const client = (answers: (stream: number) => Uint8Array[]): AgentClient =>
  new AgentClient(new ScriptedGuest(answers));
const broken = { code: "agent_protocol" };

describe("a hostile guest", () => {
  it("cannot send more output than was asked for", async () => {
    const guest = client((stream) => [data(stream, 1, new Uint8Array(11)), reply(stream, ran)]);
    await expect(guest.exec({ argv: ["x"], maxOutputBytes: 10 })).rejects.toMatchObject(broken);
  });

  it("cannot fill memory with output on a channel that does not exist", async () => {
    const guest = client((stream) => [data(stream, 3, new Uint8Array(5)), reply(stream, ran)]);
    await expect(guest.exec({ argv: ["x"] })).rejects.toMatchObject(broken);
  });

  it("cannot send more of a file than was asked for, nor less than it says", async () => {
    const said = { size: 5, read: 5, mode: 0, mtime: [0, 0] };
    const more = client((stream) => [data(stream, 4, new Uint8Array(5)), reply(stream, said)]);
    await expect(more.readFile("/x", { limit: 4 })).rejects.toMatchObject(broken);
    const less = client((stream) => [data(stream, 4, new Uint8Array(4)), reply(stream, said)]);
    await expect(less.readFile("/x")).rejects.toMatchObject(broken);
  });

  it.each([
    ["an exit code beyond a byte", { ...ran, exit: 256 }],
    ["an extra field", { ...ran, extra: 1 }],
    ["a missing field", { ...ran, us: undefined }],
    ["a negative count", { ...ran, dropped: [-1, 0] }],
    ["another type altogether", [1, 2]],
  ])("cannot pass %s", async (_name, value) => {
    await expect(client((stream) => [reply(stream, value)]).exec({ argv: ["x"] })).rejects.toMatchObject(
      broken,
    );
  });

  it("cannot answer for another stream, nor keep silent and pass", async () => {
    await expect(client((stream) => [reply(stream + 1, ran)]).exec({ argv: ["x"] })).rejects.toMatchObject({
      code: "machine_died",
    });
  });

  it("cannot reply without ending the stream", async () => {
    await expect(client((stream) => [reply(stream, ran, 0)]).exec({ argv: ["x"] })).rejects.toMatchObject(
      broken,
    );
  });

  it("is given up for good once it broke the protocol", async () => {
    const guest = client((stream) => [data(stream, 9, new Uint8Array(1)), reply(stream, ran)]);
    await expect(guest.exec({ argv: ["x"] })).rejects.toMatchObject(broken);
    await expect(guest.hello()).rejects.toMatchObject(broken);
  });

  it("is reported dead when init says that its agent is", async () => {
    const guest = client(() => [encodeFrame({ kind: 4, op: 2, payload: encode({ status: 9 }) })]);
    await expect(guest.hello()).rejects.toMatchObject({
      code: "machine_died",
      message: expect.stringMatching(/agent/) as string,
    });
  });

  const entry = (name: Uint8Array, target: Uint8Array | null = null): Uint8Array =>
    encode([name, target === null ? "f" : "l", 0o644, 0, 1000, 1000, 0, 0, target]);
  const folder = (...entries: Uint8Array[]): AgentClient =>
    client((stream) => [
      ...entries.map((one) => data(stream, 3, one)),
      reply(stream, { count: entries.length, more: false }),
    ]);

  it.each([
    [
      "a name",
      folder(entry(Buffer.from("plain")), entry(Uint8Array.of(0xff, 0x61))),
      "list /x: name 0xff61: ",
    ],
    [
      "a link's target",
      folder(entry(Buffer.from("link"), Uint8Array.of(0xfe))),
      "stat /x/link: target 0xfe: ",
    ],
    ["a long name", folder(entry(new Uint8Array(100).fill(0xff))), `list /x: name 0x${"ff".repeat(64)}...: `],
  ])("cannot pass %s that is not UTF-8 for another, nor leave it out", async (_what, guest, said) => {
    await expect(guest.list("/x")).rejects.toMatchObject({
      code: "guest_error",
      errno: "EILSEQ",
      message: `${said}illegal byte sequence (EILSEQ)`,
    });
    // The answer is the guest's, not a breach: its machine is still of use.
    await expect(guest.list("/x")).rejects.toMatchObject({ errno: "EILSEQ" });
  });

  it("cannot hide a byte order mark in a name", async () => {
    const names = ["\ufeffdone.txt", "done.txt"];
    const guest = folder(...names.map((name) => entry(Buffer.from(name))));
    expect((await guest.list("/x")).map(({ path }) => path).sort()).toEqual([
      "/x/done.txt",
      "/x/\ufeffdone.txt",
    ]);
  });

  it("cannot make the host throw anything but an error of the table", async () => {
    const answer = fc.record({
      kind: fc.constantFrom(2, 2, 3, 4, 5),
      flags: fc.constantFrom(0, 1, 1, 5),
      op: fc.nat(6),
      payload: fc.oneof(
        fc.uint8Array({ maxLength: 64 }),
        fc.anything().map((value) => {
          try {
            return encode(value);
          } catch {
            return new Uint8Array(0);
          }
        }),
      ),
      own: fc.boolean(),
    });
    const calls: ((guest: AgentClient) => Promise<unknown>)[] = [
      (guest) => guest.exec({ argv: ["x"] }),
      (guest) => guest.readFile("/x"),
      (guest) => guest.list("/x"),
      (guest) => guest.processes(),
      (guest) => guest.stat("/x"),
      (guest) => guest.dialogue({ argv: ["x"] }),
      (guest) => guest.stream({ argv: ["x"] }).done,
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.array(answer, { maxLength: 4 }),
        fc.constantFrom(...calls),
        async (answers, call) => {
          const guest = client((stream) =>
            answers.map(({ own, ...frame }) =>
              encodeFrame({ ...frame, stream: frame.kind === 4 ? 0 : own ? stream : 1 }),
            ),
          );
          await call(guest).catch((error: unknown) => expect(error).toBeInstanceOf(ShinkenError));
        },
      ),
      { numRuns: 500 },
    );
  });
});
