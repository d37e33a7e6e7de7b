/**
 * Makes WebAssembly code that has a memory of its own import it as `env.memory`: then the host decides its sizes and gives the
 * same one to one instance after another. The memory keeps its index, 0, so nothing else changes.
 * Format: https://webassembly.github.io/spec/core/binary/modules.html
 */
import { ShinkenError } from "../../errors/index.js";
import type { MemorySize } from "./interface.js";

const HEADER_BYTES = 8;
const IMPORTS = 2;
const MEMORIES = 5;
/** Of an import: it is a memory, and it has a maximum. */
const IS_MEMORY = 2;
const HAS_MAXIMUM = 1;

/** Throws `grader_error` for code that does not define exactly one memory, or that imports nothing. */
export function withImportedMemory(code: Uint8Array, size: MemorySize): Uint8Array {
  const parts: Uint8Array[] = [code.subarray(0, HEADER_BYTES)];
  const changed = new Set<number>();
  for (let at = HEADER_BYTES; at < code.length; ) {
    const id = code[at];
    const body = numberAt(code, at + 1);
    const end = body.next + body.value;
    const count = numberAt(code, body.next);
    if (id === IMPORTS) {
      const content = Buffer.concat([
        encoded(count.value + 1),
        code.subarray(count.next, end),
        memoryImport(size),
      ]);
      parts.push(Uint8Array.of(IMPORTS), encoded(content.length), content);
      changed.add(IMPORTS);
    } else if (id === MEMORIES && count.value === 1) {
      changed.add(MEMORIES);
    } else {
      parts.push(code.subarray(at, end));
    }
    at = end;
  }
  if (!changed.has(IMPORTS) || !changed.has(MEMORIES))
    throw new ShinkenError("grader_error", "an engine's code has not the memory that was expected");
  return Buffer.concat(parts);
}

function memoryImport({ initial, maximum }: MemorySize): Uint8Array {
  const name = (text: string): Uint8Array => Buffer.concat([encoded(text.length), Buffer.from(text)]);
  const limits = [Uint8Array.of(IS_MEMORY, HAS_MAXIMUM), encoded(initial), encoded(maximum)];
  return Buffer.concat([name("env"), name("memory"), ...limits]);
}

/** An unsigned LEB128 number, and where what follows it begins. */
function numberAt(code: Uint8Array, at: number): { value: number; next: number } {
  let value = 0;
  for (let next = at, factor = 1; ; factor *= 128) {
    const byte = code[next++] ?? 0;
    value += (byte & 127) * factor;
    if (byte < 128) return { value, next };
  }
}

function encoded(value: number): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Uint8Array.of(...bytes, rest);
    bytes.push((rest % 128) | 128);
  }
}
