import { describe, expect, it } from "vitest";
import { withImportedMemory } from "../../../src/verifiers/wasm/import-memory.js";
import { Memories } from "../../../src/verifiers/wasm/memories.js";
import { wasm, type WasmMemory } from "../../../src/verifiers/wasm/interface.js";

const SIZE = { initial: 2, maximum: 300 };
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const bytes = (memory: WasmMemory): Uint8Array => new Uint8Array(memory.buffer);

describe("the memory of an engine that is gone", () => {
  it("is the next one's, with every byte zero", async () => {
    const memories = new Memories(SIZE, 1);
    const first = memories.take();
    bytes(first).fill(7);
    memories.giveBack(first);
    await nextTurn();
    const second = memories.take();
    expect(second).toBe(first);
    expect(bytes(second).every((byte) => byte === 0)).toBe(true);
  });

  it("is not handed out before it is clean", () => {
    const memories = new Memories(SIZE, 1);
    const first = memories.take();
    memories.giveBack(first);
    expect(memories.take()).not.toBe(first);
  });

  it("is let go once it has grown, so that the next one begins as small as the first", async () => {
    const memories = new Memories(SIZE, 1);
    const first = memories.take();
    (first as unknown as { grow(pages: number): void }).grow(1);
    memories.giveBack(first);
    await nextTurn();
    expect(bytes(memories.take()).length).toBe(2 * 65_536);
  });
});

/** `(module (import "a" "f" (func)) (memory 1) (export "m" (memory 0)) (data (i32.const 3) "x"))` */
const MODULE = Buffer.from(
  "0061736d01000000010401600000020701016101660000050301000107050101" + "6d02000b0701004103" + "0b0178",
  "hex",
);

describe("code with a memory of its own", () => {
  it("takes one of the host's instead, which holds its data", async () => {
    const memory = new wasm.Memory(SIZE);
    const module = await wasm.compile(withImportedMemory(MODULE, SIZE));
    const instance = new wasm.Instance(module, { a: { f: () => undefined }, env: { memory } });
    expect((instance as { exports: { m: unknown } }).exports.m).toBe(memory);
    expect([...bytes(memory).subarray(2, 5)]).toEqual([0, "x".charCodeAt(0), 0]);
  });

  it("is refused where it has none", () => {
    const withoutMemory = Buffer.concat([MODULE.subarray(0, 23), MODULE.subarray(28)]);
    expect(() => withImportedMemory(withoutMemory, SIZE)).toThrow(
      expect.objectContaining({ code: "grader_error" }),
    );
  });
});
