import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { ShinkenError } from "../../src/errors/index.js";
import { readBundle, readEvents } from "../../src/replay/index.js";
import { mapLeaves } from "../../src/replay/format/leaves.js";
import { toWellFormed } from "../../src/replay/format/text.js";
import { TextDelta } from "../../src/replay/format/values.js";
import { zstdReady } from "../../src/replay/format/zstd.js";
import { BlobStore } from "../../src/replay/write/blobs.js";
import { BundleState } from "../../src/replay/write/bundle-state.js";
import { Script, sessionOf } from "../conformance/skn/bundles.js";
import { bundleFile, golden } from "../conformance/skn/files.js";
import { chunkOf, fileOf, pack, plainChunk } from "../conformance/skn/raw.js";
import { anyText, json } from "./support/arbitraries.js";
import { scratch } from "./support/recording.js";

beforeAll(() => zstdReady);

/** The text, or one so long that it is kept beside the bundle, or changes little. */
const text = fc
  .tuple(anyText, fc.constantFrom(0, 0, 0, 300, 6_000, 20_000))
  .map(([some, length]) => "é".repeat(length) + some);

let made = 0;

async function recorded(folder: string, payloads: readonly unknown[]): Promise<string> {
  const file = `task/${(made += 1)}.skn`;
  const secrets = { values: [], variables: [] };
  const state = new BundleState(
    { kind: "open", id: 1, session: 1, folder, file, runtime: "test/1", secrets },
    new BlobStore(folder),
  );
  const script = new Script(state);
  script.event("session", sessionOf("any"));
  for (const payload of payloads) script.ask({ type: "any", payload }).answer([{ payload }]);
  await state.finish();
  return join(folder, file);
}

/** Names cannot be said in UTF-16. */
const named = (value: unknown): unknown => mapLeaves(value, (_path, leaf) => leaf, toWellFormed);

describe("what was recorded", () => {
  it("is read as it was: any values, names and texts, long and short", async () => {
    const folder = scratch();
    await fc.assert(
      fc.asyncProperty(fc.array(json(text), { maxLength: 4 }), async (payloads) => {
        const { steps } = await readBundle(await recorded(folder, payloads));
        expect(steps.map(({ actions }) => actions[0]?.action["payload"])).toEqual(payloads.map(named));
        expect(steps.map(({ observation }) => observation?.observation.results[0]?.["payload"])).toEqual(
          payloads.map(named),
        );
      }),
      { numRuns: 60 },
    );
  });

  it("is read with what was changed as it stands in the file, if that is asked for", async () => {
    const kinds = new Set<unknown>();
    for await (const event of readEvents(bundleFile("deltas"), { blobs: false }))
      mapLeaves(event, (_path, leaf) => kinds.add((leaf as object | null)?.constructor));
    expect(kinds).toContain(TextDelta);
  });
});

/** Reads it to its end. Anything but an error of ours is a fault of the reader. */
async function outcome(file: string): Promise<string> {
  try {
    await readBundle(file);
    return "read";
  } catch (error) {
    if (error instanceof ShinkenError) return error.code;
    throw error;
  }
}

const codes = ["read", "bad_bundle", "unsupported_version", "blob_missing", "too_large"];

describe("a file that somebody has changed", () => {
  const folder = join(golden, "hostile");
  const seeds = [
    ...["graded", "deltas", "blobs", "foreign", "version-0"].map(bundleFile),
    ...readdirSync(folder).map((name) => join(folder, name)),
  ].map((path) => readFileSync(path));

  const change = fc.tuple(fc.nat(), fc.uint8Array({ maxLength: 12 }), fc.nat(12));
  const changed = (bytes: Buffer, changes: readonly [number, Uint8Array, number][]): Buffer => {
    let now = bytes;
    for (const [place, put, taken] of changes) {
      const at = place % (now.byteLength + 1);
      now = Buffer.concat([now.subarray(0, at), put, now.subarray(at + taken)]);
    }
    return now;
  };

  it("is read, or refused with an error of ours", async () => {
    const file = join(scratch(), "changed.skn");
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...seeds),
        fc.array(change, { maxLength: 4 }),
        async (seed, changes) => {
          writeFileSync(file, changed(seed, changes));
          expect(codes).toContain(await outcome(file));
        },
      ),
      { numRuns: 300 },
    );
  });

  it("is so too where its checksums were made right again", async () => {
    const file = join(scratch(), "changed.skn");
    const topics = ["session", "observation", "marker", "verdict"].map((topic) => ({
      topic,
      schema: `skn.${topic}`,
    }));
    const envelope = { step: 1, t_guest: null, t_wall: 1 };
    const observation = {
      observation: { results: [{ text: "long ".repeat(100) }] },
      terminated: false,
      truncated: false,
      info: {},
    };
    const chunk = chunkOf(topics, [
      { channel: 1, data: pack({ seq: 0, ...envelope, ...sessionOf("any") }) },
      { channel: 2, data: pack({ seq: 1, ...envelope, ...observation }) },
      { channel: 2, data: pack({ seq: 2, ...envelope, ...observation }) },
      { channel: 3, data: pack({ seq: 3, ...envelope, kind: "refused" }) },
      {
        channel: 4,
        data: pack({ seq: 4, ...envelope, verdict: { status: "graded", score: 1 }, verifier: "v", ms: 1 }),
      },
    ]);
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
        writeFileSync(file, fileOf([plainChunk(changed(chunk, changes))]));
        seen.add(await outcome(file));
      }),
      { numRuns: 500 },
    );
    for (const code of seen) expect(codes).toContain(code);
  });

  it("is so too where a payload is any bytes", async () => {
    const file = join(scratch(), "payload.skn");
    const topics = ["session", "observation"].map((topic) => ({ topic }));
    const first = {
      channel: 1,
      data: pack({ seq: 0, step: 0, t_guest: null, t_wall: 1, ...sessionOf("any") }),
    };
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), async (data) => {
        writeFileSync(file, fileOf([plainChunk(chunkOf(topics, [first, { channel: 2, data }]))]));
        expect(await outcome(file)).toBe("bad_bundle");
      }),
      { numRuns: 200 },
    );
  });
});
