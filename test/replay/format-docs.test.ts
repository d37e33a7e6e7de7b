import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { errorTable } from "../../src/errors/index.js";
import { channelNames, envelope } from "../../src/replay/format/channels.js";
import { blobExtension, blobKinds, deltaExtension, utf16Extension } from "../../src/replay/format/values.js";
import {
  blobBytes,
  chunkBytes,
  compressFrom,
  deltaChain,
  deltaChars,
  readLimits,
  sknVersion,
} from "../../src/replay/format/version.js";

const page = readFileSync(new URL("../../docs/skn.md", import.meta.url), "utf8");
const python = readFileSync(
  new URL("../../bindings/python/shinken_gym/_skn/limits.py", import.meta.url),
  "utf8",
);
const part = (title: string): string => page.split(/^## /m).find((text) => text.startsWith(title)) ?? "";
const firstCells = (text: string): string[] =>
  [...text.matchAll(/^\| `?([^`|]+?)`? \|/gm)].map((match) => match[1] ?? "");
const MiB = 1024 * 1024;

describe("docs/skn.md", () => {
  it("has the version, and every channel with its id", () => {
    expect(page).toContain(`bundle, version ${sknVersion}`);
    const rows = [...part("Channels").matchAll(/^\| (\d+) \| `(\w+)` \|/gm)].map((match) => [
      Number(match[1]),
      match[2],
    ]);
    expect(rows).toEqual(channelNames.map((name, at) => [at + 1, name]));
  });

  it("has every field of the envelope", () => {
    const names = firstCells(part("Events")).filter((name) => name in envelope.shape);
    expect(names).toEqual(Object.keys(envelope.shape));
  });

  it("has the extension types and the kinds of blobs", () => {
    const rows = firstCells(part("Values")).filter((cell) => /^\d+$/.test(cell));
    expect(rows.map(Number)).toEqual([blobExtension, deltaExtension, utf16Extension]);
    expect(blobKinds.map((_, at) => part("Values").includes(`${at} `))).toEqual(blobKinds.map(() => true));
  });

  it("has the sizes that the writer goes by", () => {
    expect(part("Container")).toContain(`${chunkBytes / 1024} KiB`);
    expect(part("Container")).toContain(`${compressFrom} bytes`);
    expect(part("Values")).toContain(`${blobBytes / 1024} KiB`);
    expect(part("Values")).toContain(`${deltaChars} code units`);
    expect(part("Values")).toContain(`after ${deltaChain} changes`);
  });

  it("has the bounds that are in force", () => {
    const bounds = part("Bounds");
    for (const bytes of [readLimits.recordBytes, readLimits.blobBytes, readLimits.eventBytes])
      expect(bounds).toContain(`${bytes / MiB} MiB`);
    expect(bounds).toContain(`${readLimits.bundleBytes / MiB / 1024} GiB`);
    const { depth, entries, channels } = readLimits;
    expect(bounds).toContain(`${depth}; ${entries.toLocaleString("en-US")}`);
    expect(bounds).toContain(channels.toLocaleString("en-US"));
  });

  it("names only codes of the error table", () => {
    const codes = firstCells(part("Errors")).filter((cell) => /^\w+$/.test(cell) && cell !== "code");
    expect(codes.length).toBe(5);
    for (const code of codes) expect(Object.keys(errorTable)).toContain(code);
  });
});

describe("the Python reader", () => {
  it("has the same bounds", () => {
    const values = new Map(
      [...python.matchAll(/^([A-Z_]+) = ([\d_* ]+)$/gm)].map((match) => [
        match[1],
        (match[2] ?? "")
          .replaceAll("_", "")
          .split("*")
          .reduce((product, factor) => product * Number(factor), 1),
      ]),
    );
    expect(Object.fromEntries(values)).toEqual({
      SKN_VERSION: sknVersion,
      DELTA_CHARS: deltaChars,
      RECORD_BYTES: readLimits.recordBytes,
      BLOB_BYTES: readLimits.blobBytes,
      EVENT_BYTES: readLimits.eventBytes,
      BUNDLE_BYTES: readLimits.bundleBytes,
      CHANNELS: readLimits.channels,
      DEPTH: readLimits.depth,
      ENTRIES: readLimits.entries,
    });
  });
});
