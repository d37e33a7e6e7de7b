import { Encoder } from "@msgpack/msgpack";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { errorTable } from "../../src/errors/index.js";
import { Peer, start, stopAll } from "../support/wire-server.js";

afterEach(stopAll);

const bytes = (...parts: (number | string)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === "number" ? Buffer.from([part]) : Buffer.from(part))));

describe("a frame", () => {
  it.each([
    ["is not JSON", "{", "bad_message"],
    ["holds NaN", '{"id":1,"op":"reset","session":"a","seed":NaN}', "bad_message"],
    ["holds -Infinity", '{"id":1,"op":"reset","session":"a","seed":-Infinity}', "bad_message"],
    [
      "holds a number out of range",
      '{"id":1,"op":"reset","session":"a","params":{"x":1e999}}',
      "bad_message",
    ],
    [
      "holds an integer beyond 2^53",
      '{"id":1,"op":"reset","session":"a","seed":9007199254740993}',
      "bad_message",
    ],
    ["has a key twice", '{"id":1,"op":"observe","session":"a","session":"b"}', "bad_message"],
    [
      "has a key twice in two spellings",
      '{"id":1,"op":"observe","session":"a","s\\u0065ssion":"b"}',
      "bad_message",
    ],
    ["sets a prototype", '{"id":1,"op":"reset","session":"a","params":{"__proto__":{"x":1}}}', "bad_message"],
    ["is empty", "", "bad_message"],
    ["is a number", "7", "bad_request"],
  ])("of text that %s is refused", async (_, text, code) => {
    const peer = await Peer.connect(await start(), "json");
    peer.raw(text);
    const reply = await peer.reply(null);
    expect(reply).toMatchObject({ ok: false, error: { code } });
    expect(peer.kinds).toEqual([false]);
  });

  it.each([
    ["ends too early", bytes(0x82, 0xa2, "id"), "bad_message"],
    ["is followed by bytes", bytes(0x01, 0x01), "bad_message"],
    ["holds NaN", bytes(0x81, 0xa1, "a", 0xcb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0), "bad_message"],
    ["holds a short NaN", bytes(0x81, 0xa1, "a", 0xca, 0x7f, 0xc0, 0, 0), "bad_message"],
    ["holds an integer beyond 2^53", bytes(0x81, 0xa1, "a", 0xcf, 0, 0x20, 0, 0, 0, 0, 0, 1), "bad_message"],
    [
      "holds a negative one",
      bytes(0x81, 0xa1, "a", 0xd3, 0xff, 0xdf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
      "bad_message",
    ],
    ["has a key twice", bytes(0x82, 0xa1, "a", 1, 0xa1, "a", 2), "bad_message"],
    ["has a number as key", bytes(0x81, 1, 1), "bad_message"],
    ["sets a prototype", bytes(0x81, 0xa9, "__proto__", 0x80), "bad_message"],
    ["holds binary", bytes(0x81, 0xa1, "a", 0xc4, 1, 0), "bad_message"],
    ["holds a timestamp", bytes(0x81, 0xa1, "a", 0xd6, 0xff, 0, 0, 0, 0), "bad_message"],
    ["is not UTF-8", bytes(0x81, 0xa1, "a", 0xa2, 0xc3, 0x28), "bad_message"],
    ["claims four billion entries", bytes(0xdf, 0xff, 0xff, 0xff, 0xff), "too_large"],
    ["nests 200,000 arrays", Buffer.alloc(200_000, 0x91), "too_large"],
    ["is empty", bytes(), "bad_message"],
  ])("of msgpack that %s is refused", async (_, data, code) => {
    const peer = await Peer.connect(await start());
    peer.raw(data);
    expect(await peer.reply(null)).toMatchObject({ ok: false, error: { code } });
    expect(peer.kinds).toEqual([true]);
  });

  it("with small integers coded in 64 bits is taken", async () => {
    const peer = await Peer.connect(await start());
    const request = new Encoder({ useBigInt64: true }).encode({ id: 5n, op: "list", what: "tasks" });
    peer.raw(request);
    expect((await peer.reply(5)).ok).toBe(true);
  });

  it("of any bytes gets an answer from the table, and harms nobody", async () => {
    const server = await start();
    const [fuzzer, bystander] = [await Peer.connect(server), await Peer.connect(server)];
    const { session } = await bystander.session();
    let step = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.uint8Array({ maxLength: 200 }), fc.string({ unit: "binary", maxLength: 200 })),
        async (data) => {
          // Lone surrogates cannot be sent in a text frame.
          fuzzer.raw(typeof data === "string" ? Buffer.from(data).toString() : data);
          const reply = await fuzzer.wait(() => true);
          expect(reply.ok).toBe(false);
          expect(Object.keys(errorTable)).toContain(reply.error.code);
          const fine = await bystander.ask({
            op: "step",
            session,
            step: ++step,
            actions: [{ type: "echo" }],
          });
          expect(fine.ok).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });

  it("with a broken byte in a right request is answered too", async () => {
    const peer = await Peer.connect(await start());
    const request = Buffer.from(
      new Encoder().encode({ id: 1, op: "step", session: "a", step: 1, actions: [{ type: "echo", n: 1.5 }] }),
    );
    await fc.assert(
      fc.asyncProperty(fc.nat(request.length - 1), fc.nat(255), async (at, value) => {
        const data = Buffer.from(request);
        data[at] = value;
        peer.raw(data);
        expect((await peer.wait(() => true)).ok).toBe(false);
      }),
      { numRuns: 300 },
    );
  });
});
