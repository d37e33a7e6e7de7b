/** The parts of the WebAssembly interface that are used; Node's types leave it to the browser's. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
}

/** Sizes in pages of 64 KiB. */
export interface MemorySize {
  initial: number;
  maximum: number;
}

export const PAGE_BYTES = 65_536;

interface Wasm {
  compile(code: Uint8Array): Promise<object>;
  Instance: new (module: object, imports: object) => object;
  Memory: new (size: MemorySize) => WasmMemory;
}

export const wasm = (globalThis as unknown as { WebAssembly: Wasm }).WebAssembly;
