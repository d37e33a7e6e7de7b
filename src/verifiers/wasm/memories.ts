/**
 * Memories of engines that are gone, for those to come. V8 counts a memory as garbage of its thread's heap and collects the whole
 * heap for every few of them: with a memory made for each, an engine costs ten times what its instance does.
 */
import { type MemorySize, PAGE_BYTES, wasm, type WasmMemory } from "./interface.js";

export class Memories {
  private readonly size: MemorySize;
  private readonly most: number;
  private readonly clean: WasmMemory[] = [];

  /** Keeps `most` of them at the most. */
  constructor(size: MemorySize, most: number) {
    this.size = size;
    this.most = most;
  }

  /** A memory as a new one is: of the initial size, every byte zero. */
  take(): WasmMemory {
    return this.clean.pop() ?? new wasm.Memory(this.size);
  }

  /**
   * Takes back a memory whose instance nobody calls any more, and cleans it once the answer is on its way. One that has grown would
   * stay so: it is left to the collector.
   */
  giveBack(memory: WasmMemory): void {
    if (memory.buffer.byteLength !== this.size.initial * PAGE_BYTES) return;
    setImmediate(() => {
      if (this.clean.length >= this.most) return;
      clear(memory);
      this.clean.push(memory);
    });
  }
}

const zeros = Buffer.alloc(PAGE_BYTES);

/** Makes every byte zero. Most pages were never touched; to look at one takes a fraction of writing it, and no memory of the host. */
function clear({ buffer }: WasmMemory): void {
  for (let at = 0; at < buffer.byteLength; at += PAGE_BYTES) {
    const page = Buffer.from(buffer, at, PAGE_BYTES);
    if (!page.equals(zeros)) page.fill(0);
  }
}
