/** Xz of hostile files, by xz-embedded in WebAssembly: sums are checked, and what comes out is counted as it comes. */
import { createRequire } from "node:module";
import { ContentFault } from "../value.js";
import type { Expansion } from "./expand.js";

interface Library {
  XzReadableStream: new (source: ReadableStream<Uint8Array>) => ReadableStream<Uint8Array>;
}

const MAGIC = Uint8Array.of(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0);

/** What the library's error codes mean (`enum xz_ret`). */
const complaints: Readonly<Record<string, string>> = {
  3: "needs more memory than a dictionary of its size should",
  4: "needs a larger dictionary than is read",
  5: "is not xz throughout",
  6: "has a check or a filter that is not read",
  7: "is damaged: its sum does not fit",
  8: "is cut short, or goes on after its end",
};

export function isXz(bytes: Uint8Array): boolean {
  return MAGIC.every((byte, at) => bytes[at] === byte);
}

/** Expands an xz file, all its streams. Rejects with `ContentFault`, also for a wrong sum and for a file that is cut short. */
export async function unxz(bytes: Uint8Array, what: string, expansion: Expansion): Promise<Uint8Array> {
  const { XzReadableStream } = createRequire(import.meta.url)("xz-decompress") as Library;
  const source = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
  const reader = new XzReadableStream(source).getReader();
  const chunks: Uint8Array[] = [];
  for (;;) {
    const { done, value } = await reader.read().catch((error: unknown) => {
      const [, code = ""] = /error code (\d+)$/.exec(error instanceof Error ? error.message : "") ?? [];
      const why = complaints[code];
      // Anything else is the library's fault, not the file's.
      if (why === undefined) throw error;
      throw new ContentFault(`${what} ${why}`);
    });
    if (done) return Buffer.concat(chunks);
    try {
      expansion.add(value.length, what);
    } catch (error) {
      // The library serves one stream at a time: one that is left open would block all that follow.
      await reader.cancel();
      throw error;
    }
    chunks.push(value);
  }
}
