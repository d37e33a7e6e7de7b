/** Instances of QuickJS compiled to WebAssembly, each with a memory of its own that cannot grow beyond what its node says. */
import variant from "@jitl/quickjs-wasmfile-release-sync";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
} from "quickjs-emscripten-core";
import { PAGE_BYTES, wasm, type WasmMemory } from "../wasm/interface.js";
import { Memories } from "../wasm/memories.js";

/** Pages of memory with which the engine is built to begin, and those in one MiB. */
const INITIAL_PAGES = 256;
const PAGES_PER_MIB = (1024 * 1024) / PAGE_BYTES;
/** Memories that wait for the next job. */
const KEPT = 1;

export interface Instance {
  engine: QuickJSWASMModule;
  memory: WasmMemory;
  memoryMib: number;
}

type EngineOptions = Parameters<typeof newVariant>[1];

/** The compiled code, shared by all instances of this thread. */
let compiled: Promise<object> | undefined;
/** Of the size that was asked for last. */
let kept: { memoryMib: number; memories: Memories } | undefined;

async function compile(): Promise<object> {
  const path = createRequire(import.meta.url).resolve("@jitl/quickjs-wasmfile-release-sync/wasm");
  return wasm.compile(await readFile(path));
}

/**
 * An instance that no module has run in. The bound is that of its memory: the engine's own limit counts blocks and not their bytes,
 * because its build cannot ask the allocator for a block's size.
 */
export async function newInstance(memoryMib: number): Promise<Instance> {
  compiled ??= compile();
  const memory = memoriesOf(memoryMib).take();
  const options = { wasmModule: await compiled, wasmMemory: memory } as EngineOptions;
  const engine = await newQuickJSWASMModuleFromVariant(
    newVariant(variant as unknown as QuickJSSyncVariant, options),
  );
  return { engine, memory, memoryMib };
}

/** Gives up an instance, which nobody may call any more. */
export function dropInstance({ memory, memoryMib }: Instance): void {
  memoriesOf(memoryMib).giveBack(memory);
}

function memoriesOf(memoryMib: number): Memories {
  if (kept?.memoryMib !== memoryMib) {
    const size = { initial: INITIAL_PAGES, maximum: memoryMib * PAGES_PER_MIB };
    kept = { memoryMib, memories: new Memories(size, KEPT) };
  }
  return kept.memories;
}
