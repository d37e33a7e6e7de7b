/** A recorder for one test, in a folder of its own, and what it wrote. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { McapStreamReader } from "@mcap/core";
import { onTestFinished } from "vitest";
import { EchoEnvironment } from "../../../src/env/index.js";
import type { EnvironmentOptions } from "../../../src/env/checkpoints.js";
import type { Environment } from "../../../src/env/environment.js";
import { decompress, zstdReady } from "../../../src/replay/format/zstd.js";
import {
  type BundleEvent,
  noFacts,
  RecordedEnvironment,
  readEvents,
  readIndex,
  Recorder,
  type RecorderOptions,
} from "../../../src/replay/index.js";

/** A folder that goes with the test. */
export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), "shinken-replay-"));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** A recorder that is closed with the test. */
export function recorder(options: Partial<RecorderOptions> = {}): Recorder {
  const made = new Recorder({ folder: scratch(), runtime: "test/1", ...options });
  onTestFinished(() => made.close());
  return made;
}

export function recordedEcho(into: Recorder, options: EnvironmentOptions = {}): RecordedEnvironment {
  return recorded(new EchoEnvironment(), into, options);
}

export function recorded(
  environment: Environment,
  into: Recorder,
  options: EnvironmentOptions = {},
): RecordedEnvironment {
  return new RecordedEnvironment(environment, into, options, noFacts);
}

export const say = (text: string): Record<string, unknown> => ({ type: "echo", text });

export async function eventsOf(path: string): Promise<BundleEvent[]> {
  const events: BundleEvent[] = [];
  for await (const event of readEvents(path)) if (!("foreign" in event)) events.push(event);
  return events;
}

/** Events as `channel step`, or `channel:kind step`, in their order. */
export function outline(events: readonly BundleEvent[]): string[] {
  return events.map((event) => {
    const kind = event.channel === "marker" ? `:${event.kind}` : "";
    return `${event.channel}${kind} ${event.step}`;
  });
}

/** Paths of the bundles of a folder. */
export function bundles(folder: string): string[] {
  return filesOf(folder).filter((path) => path.endsWith(".skn"));
}

export function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** The bundles whose bytes are what the index says; others are named with what is wrong. */
export async function againstIndex(folder: string): Promise<{ equal: number; wrong: string[] }> {
  const wrong: string[] = [];
  let equal = 0;
  for (const [file, { sha256, bytes }] of await readIndex(folder)) {
    const content = readFileSync(join(folder, file));
    const same = createHash("sha256").update(content).digest("hex") === sha256 && content.length === bytes;
    if (same) equal += 1;
    else wrong.push(file);
  }
  return { equal, wrong };
}

/** All bytes that a folder holds, as they are and unpacked, and the names of its files. */
export async function everyByte(folder: string): Promise<Buffer> {
  await zstdReady;
  const all: Uint8Array[] = [];
  for (const path of filesOf(folder)) {
    const bytes = readFileSync(path);
    all.push(Buffer.from(path), bytes);
    if (path.endsWith(".skn")) all.push(...chunksOf(bytes));
    else if (path.includes("/blobs/")) all.push(unpackedFrame(bytes));
  }
  return Buffer.concat(all);
}

function chunksOf(bytes: Buffer): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  const reader = new McapStreamReader({
    decompressHandlers: {
      zstd: (data, size) => {
        const chunk = Uint8Array.from(decompress(data, Number(size), 1e9));
        chunks.push(chunk);
        return chunk;
      },
    },
  });
  reader.append(bytes);
  while (reader.nextRecord() !== undefined);
  return chunks;
}

/** A frame says its size in its header; our writer's frames always do. */
function unpackedFrame(frame: Buffer): Uint8Array {
  const descriptor = frame.readUInt8(4);
  const single = (descriptor & 0x20) !== 0;
  const at = 5 + (single ? 0 : 1) + ([0, 1, 2, 4][descriptor & 3] ?? 0);
  const size = [
    () => frame.readUInt8(at),
    () => frame.readUInt16LE(at) + 256,
    () => frame.readUInt32LE(at),
    () => Number(frame.readBigUInt64LE(at)),
  ][descriptor >> 6]?.();
  return decompress(frame, size ?? 0, 1e9);
}
