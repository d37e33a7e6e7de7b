/** Bundles for tests of what comes after recording: finished, cut off, and as MCAP tools see them. */
import { readFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { McapIndexedReader, McapStreamReader } from "@mcap/core";
import { expect } from "vitest";
import { decompressHandlers } from "../../../src/replay/read/reader.js";
import { recordedEcho, recorder, say } from "./recording.js";

/** A finished episode of five steps, one of which has content beside the bundle. */
export async function finishedBundle() {
  const into = recorder();
  const environment = recordedEcho(into, { labels: { run: "r" } });
  await environment.reset({ seed: 3 });
  for (let step = 1; step <= 5; step += 1)
    await environment.step([say(step === 3 ? "page ".repeat(8_000) : `step ${step}`)]);
  const { file = "" } = environment.bundle ?? {};
  await environment.close();
  await into.close();
  return { folder: into.folder, file, path: join(into.folder, file) };
}

/** The same, cut off among its events, as if it had been written in its folder until then. */
export async function cutBundle() {
  const made = await finishedBundle();
  truncateSync(made.path, Math.floor(statSync(made.path).size * 0.4));
  rmSync(join(made.folder, "index.jsonl"));
  return made;
}

/** What a file says of itself in its summary, to tools that jump to the end first; and how many messages it has. */
export async function viaSummary(path: string) {
  const bytes = readFileSync(path);
  const readable = {
    size: () => Promise.resolve(BigInt(bytes.length)),
    read: (at: bigint, length: bigint) =>
      Promise.resolve(Uint8Array.from(bytes.subarray(Number(at), Number(at + length)))),
  };
  const { statistics, chunkIndexes } = await McapIndexedReader.Initialize({ readable, decompressHandlers });
  const stream = new McapStreamReader({ decompressHandlers, validateCrcs: true });
  stream.append(bytes);
  let messages = 0;
  for (let record = stream.nextRecord(); record !== undefined; record = stream.nextRecord())
    if (record.type === "Message") messages += 1;
  expect(stream.done()).toBe(true);
  for (const { chunkStartOffset } of chunkIndexes) expect(bytes[Number(chunkStartOffset)]).toBe(6);
  expect(chunkIndexes).toHaveLength(statistics?.chunkCount ?? -1);
  return { messages, statistics };
}
