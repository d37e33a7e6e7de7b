/**
 * A bound on the memory that a library takes outside the JavaScript heap, which a thread's limits do not see: a stream of a few
 * kilobytes in a PDF may expand to gigabytes, and the library offers no limit of its own.
 */
import { ContentFault } from "../../value.js";

/** Bytes of all arrays together, those that were let go of included, so that the same file always meets the same end. */
const ALLOCATED_LIMIT = 512 * 1024 * 1024;

const guarded = [
  "ArrayBuffer",
  "Uint8Array",
  "Uint8ClampedArray",
  "Int8Array",
  "Uint16Array",
  "Int16Array",
  "Uint32Array",
  "Int32Array",
  "Float32Array",
  "Float64Array",
] as const;

type Constructor = new (...args: unknown[]) => ArrayBuffer | { byteLength: number };

/**
 * Runs a job while the thread's arrays are counted; nothing else may work in the thread meanwhile. Rejects with `ContentFault` once
 * the job has asked for more, whatever the library made of the refusal. The thread's own decompression, which takes memory past
 * any count, is out of reach too.
 */
export async function countingAllocations<T>(what: string, job: () => Promise<T>): Promise<T> {
  const globals = globalThis as unknown as Record<string, unknown>;
  const originals = new Map<string, unknown>();
  let total = 0;
  let fault: ContentFault | undefined;
  const take = (bytes: number): void => {
    total += bytes;
    if (total <= ALLOCATED_LIMIT) return;
    fault ??= new ContentFault(`${what} needs more than ${ALLOCATED_LIMIT} bytes to be read`);
    throw fault;
  };
  for (const name of guarded) {
    const original = globals[name] as Constructor & { BYTES_PER_ELEMENT?: number };
    const width = original.BYTES_PER_ELEMENT ?? 1;
    originals.set(name, original);
    globals[name] = new Proxy(original, {
      construct(target, args: unknown[], made) {
        const [first] = args;
        if (typeof first === "number") take(first * width);
        const maker = (made as unknown) === globals[name] ? target : made;
        return Reflect.construct(target, args, maker) as object;
      },
    });
  }
  originals.set("DecompressionStream", globals.DecompressionStream);
  globals.DecompressionStream = undefined;
  try {
    const result = await job();
    if (fault !== undefined) throw fault;
    return result;
  } catch (error) {
    throw fault ?? error;
  } finally {
    for (const [name, original] of originals) globals[name] = original;
  }
}
