/**
 * The conformance folder: what every reader of bundles has to read, and to refuse. The Python tests read the same files.
 * `UPDATE_GOLDEN=1 npx vitest run test/replay/conformance.test.ts` writes them anew: a difference is a change of the format.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ShinkenError } from "../../src/errors/index.js";
import { readBundle, readEvents } from "../../src/replay/index.js";
import type { Bundle, BundleStep, ReadOptions } from "../../src/replay/index.js";
import { blobPath } from "../../src/replay/write/blobs.js";
import { makeBundles } from "../conformance/skn/bundles.js";
import { bundleFile, bundleNames, golden, json } from "../conformance/skn/files.js";
import { hostileBlobs, hostileFiles } from "../conformance/skn/hostile.js";
import { versionZero } from "../conformance/skn/old.js";
import { tagged } from "../conformance/skn/tagged.js";

const update = process.env["UPDATE_GOLDEN"] === "1";
const scratch = mkdtempSync(join(tmpdir(), "skn-"));
/** What the writer makes of the cases now. */
const made = join(scratch, "made");

/** What a file is to a reader: its events up to its end, or to an error. */
async function reading(
  file: string,
  options: ReadOptions = {},
): Promise<{ events: unknown[]; end?: unknown; error?: string }> {
  const events: unknown[] = [];
  const reader = readEvents(file, options);
  try {
    for (;;) {
      const { done, value } = await reader.next();
      if (done === true) return { events, end: value };
      events.push(tagged(value));
    }
  } catch (error) {
    if (!(error instanceof ShinkenError)) throw error;
    return { events, error: error.code };
  }
}

/** Which events stand where, by `seq`; those of unknown channels as `channel seq`. */
function outline({ session, start, steps, verdicts }: Bundle): unknown {
  const nameOf = (event: { seq: number; channel: string; foreign?: unknown }): unknown =>
    event.foreign === true ? `${event.channel} ${event.seq}` : event.seq;
  const step = (one: BundleStep): unknown => ({
    step: one.step,
    actions: one.actions.map(nameOf),
    observation: one.observation?.seq ?? null,
    rewards: one.rewards.map(nameOf),
    decisions: one.decisions.map(nameOf),
    snapshot: one.snapshot?.seq ?? null,
    others: one.others.map(nameOf),
  });
  return { session: session.seq, start: step(start), steps: steps.map(step), verdicts: verdicts.map(nameOf) };
}

async function expectedOf(file: string): Promise<unknown> {
  const { events, end, error } = await reading(file);
  const bundle = await readBundle(file).then(outline, (failure: unknown) => ({
    error: (failure as ShinkenError).code,
  }));
  return { events, ...(error === undefined ? { end } : { error }), bundle };
}

function cutPlaces(file: string): number[] {
  const { length } = readFileSync(file);
  const even = Array.from({ length: 60 }, (_, at) => Math.floor((at * length) / 60));
  return [
    ...new Set([...even, 8, 9, 17, 30, 50, length - 37, length - 28, length - 8, length - 1, length]),
  ].sort((a, b) => a - b);
}

async function cutsOf(name: string): Promise<{ file: string; cuts: unknown[] }> {
  const whole = readFileSync(bundleFile(name));
  const path = join(scratch, "cut", "cut.skn");
  mkdirSync(join(scratch, "cut"), { recursive: true });
  const cuts: unknown[] = [];
  for (const bytes of cutPlaces(bundleFile(name))) {
    writeFileSync(path, whole.subarray(0, bytes));
    const { events, end, error } = await reading(path);
    const { finished } = (end ?? {}) as { finished?: boolean };
    cuts.push(
      error === undefined
        ? { bytes, events: events.length, finished }
        : { bytes, events: events.length, error },
    );
  }
  return { file: name, cuts };
}

const write = (path: string, value: unknown): void => {
  mkdirSync(join(golden, path, ".."), { recursive: true });
  writeFileSync(join(golden, path), `${JSON.stringify(value, null, 1)}\n`);
};

/** `version-1` is not touched once it is there: it is what was released. */
async function writeAnew(): Promise<void> {
  for (const part of ["bundles", "blobs", "expected", "hostile", "hostile.json", "cuts.json"])
    rmSync(join(golden, part), { recursive: true, force: true });
  for (const part of ["bundles", "blobs"]) cpSync(join(made, part), join(golden, part), { recursive: true });
  writeFileSync(bundleFile("version-0"), versionZero());
  for (const [sha256, content] of Object.entries(hostileBlobs)) {
    mkdirSync(join(blobPath(golden, sha256), ".."), { recursive: true });
    writeFileSync(blobPath(golden, sha256), content);
  }
  mkdirSync(join(golden, "hostile"), { recursive: true });
  const codes = Object.entries(hostileFiles()).map(([name, { code, file }]) => {
    writeFileSync(join(golden, "hostile", `${name}.skn`), file);
    return [name, code];
  });
  write("hostile.json", Object.fromEntries(codes));
  for (const name of bundleNames()) write(`expected/${name}.json`, await expectedOf(bundleFile(name)));
  write("cuts.json", await cutsOf("graded"));
  const released = join(golden, "version-1");
  if (existsSync(released)) return;
  for (const name of ["deltas", "blobs"])
    cpSync(bundleFile(name), join(released, "bundles", `${name}.skn`), { recursive: true });
  cpSync(join(made, "blobs"), join(released, "blobs"), { recursive: true });
  for (const name of ["deltas", "blobs"])
    write(`version-1/expected/${name}.json`, await expectedOf(join(released, "bundles", `${name}.skn`)));
}

beforeAll(async () => {
  await makeBundles(made);
  if (update) await writeAnew();
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

it.runIf(update)("the conformance folder is written anew", () => {
  expect(readdirSync(golden)).toContain("version-1");
});

describe.skipIf(update)("a bundle of the conformance folder", () => {
  it.each(bundleNames())("%s reads as expected", async (name) => {
    const found = JSON.parse(JSON.stringify(await expectedOf(bundleFile(name)))) as unknown;
    expect(found).toEqual(json(`expected/${name}.json`));
  });

  it.each(bundleNames().filter((name) => name !== "version-0"))(
    "%s is to the byte what the writer makes (UPDATE_GOLDEN=1)",
    (name) => {
      expect(readFileSync(join(made, "bundles", `${name}.skn`)).equals(readFileSync(bundleFile(name)))).toBe(
        true,
      );
    },
  );

  it.each(["deltas", "blobs"])("of the release of version 1, %s reads as it did", async (name) => {
    const released = join(golden, "version-1");
    const found = JSON.parse(
      JSON.stringify(await expectedOf(join(released, "bundles", `${name}.skn`))),
    ) as unknown;
    expect(found).toEqual(json(`version-1/expected/${name}.json`));
  });

  it("that was cut off reads as a clean prefix, wherever that was", async () => {
    const expected = json("cuts.json") as { file: string; cuts: unknown[] };
    expect(await cutsOf(expected.file)).toEqual(expected);
  });

  it.each(["graded", "empty", "blobs", "version-0"])(
    "with any single bit of %s flipped is refused",
    async (name) => {
      const whole = readFileSync(bundleFile(name));
      const path = join(scratch, `flipped-${name}.skn`);
      // All bits of both ends, and a sample of what lies between.
      const bits = Array.from({ length: whole.length * 8 }, (_, bit) => bit).filter(
        (bit) => bit < 600 || whole.length * 8 - bit < 500 || bit % 499 === 0,
      );
      const passed: number[] = [];
      for (const bit of bits) {
        const flipped = Buffer.from(whole);
        flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        writeFileSync(path, flipped);
        if ((await reading(path, { folder: golden })).error !== "bad_bundle") passed.push(bit);
      }
      expect(passed).toEqual([]);
    },
  );
});

describe.skipIf(update)("a hostile file", () => {
  const codes = update ? {} : (json("hostile.json") as Record<string, string>);

  it("of every kind is there", () => {
    expect(Object.keys(hostileFiles()).sort()).toEqual(Object.keys(codes).sort());
    expect(readdirSync(join(golden, "hostile")).length).toBe(Object.keys(codes).length);
  });

  it.each(Object.entries(codes))("%s is refused with %s", async (name, code) => {
    expect((await reading(join(golden, "hostile", `${name}.skn`))).error).toBe(code);
  });
});
