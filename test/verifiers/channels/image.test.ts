import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { deflateSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { parseFile } from "../../../src/verifiers/channels/parsers.js";
import { closePool, evaluateGraph } from "../../../src/verifiers/index.js";
import { MemorySandbox } from "../../support/memory-sandbox.js";
import { contextOf, grade, graphOf } from "../support.js";
import { check, standsDamage } from "./support.js";

afterAll(closePool);

const folder = new URL("./fixtures/image/", import.meta.url);
const pictures = readdirSync(folder).filter((name) => !/\.(py|json)$/.test(name));
const bytesOf = (name: string): Uint8Array => readFileSync(new URL(name, folder));
/** What scikit-image and NumPy say; `make.py` beside it made it. */
const expected = JSON.parse(readFileSync(new URL("expected.json", folder), "utf8")) as Record<
  "pixels" | "hash",
  Record<string, string>
> & { ssim: Record<string, number>; mean: Record<string, number[]> };

const files = Object.fromEntries(pictures.map((name) => [`/w/${name}`, bytesOf(name)]));
const at = (query: object, assert: object, more: object = {}) =>
  check("image", query, assert, { files }, more);
const base = { from: { channel: "image", query: { kind: "image", path: "/w/base.png" } } };
const likeBase = (name: string, demands: object) =>
  at({ kind: "image", path: `/w/${name}` }, { type: "image", similar: base, ...demands });

/** Formats whose decoding is exact, and so is what follows. */
const exact = Object.keys(expected.pixels);

describe("image", () => {
  it.each(exact)("decodes %s to the pixels that Pillow sees", async (name) => {
    const query = { channel: "image", query: { kind: "image", path: "/w" } } as const;
    const answer = await parseFile(bytesOf(name), query, name);
    if ("absent" in answer || answer.type !== "image") throw new Error("no picture");
    expect(createHash("sha256").update(answer.value.pixels).digest("hex")).toBe(expected.pixels[name]);
  });

  it.each([
    ["base.png", "png", 3],
    ["grey.png", "png", 1],
    ["masked.png", "png", 4],
    ["palette.png", "png", 3],
    ["fine.jpg", "jpeg", 3],
    ["steps.jpg", "jpeg", 3],
    ["base.gif", "gif", 3],
    ["base.bmp", "bmp", 3],
    ["lossless.webp", "webp", 3],
    ["lossy.webp", "webp", 3],
  ])("knows that %s is %s with %d channels, whatever its name says", async (name, format, channels) => {
    const wanted = { format, width: 80, height: 60, channels };
    const renamed = { files: { "/w/picture": bytesOf(name) } };
    const outcome = await check(
      "image",
      { kind: "info", path: "/w/picture" },
      { type: "json", equals: wanted },
      renamed,
    );
    expect(outcome.status, outcome.evidence).toBe("passed");
  });

  it.each(Object.entries(expected.hash))("hashes %s to %s, as NumPy does", async (name, hash) => {
    const outcome = await at({ kind: "hash", path: `/w/${name}` }, { type: "text", equals: hash });
    expect(outcome.status, outcome.evidence).toBe("passed");
  });

  it("measures a rectangle's colours", async () => {
    const query = { kind: "region", path: "/w/base.png", x: 12, y: 32, width: 20, height: 20 };
    const wall = {
      mean: "#a03c28",
      mean_rgb: expected.mean["12,32,20,20"],
      dominant: "#a03c28",
      dominant_share: 1,
    };
    expect(await at(query, { type: "json", equals: wall })).toMatchObject({ status: "passed" });
    const wider = await at({ ...query, width: 40 }, { type: "json", path: "/dominant", equals: "#a03c28" });
    expect(wider.status, wider.evidence).toBe("passed");
    expect(await at({ ...query, x: 70 }, { type: "json", exists: true })).toEqual({
      status: "failed",
      evidence: "/w/base.png is 80 x 60: the region is not in it",
    });
  });
});

describe("an image assertion", () => {
  it.each(exact.slice(1))(
    "finds the structural similarity of %s that scikit-image finds, to the millionth",
    async (name) => {
      const value = expected.ssim[name] ?? Number.NaN;
      expect((await likeBase(name, { min_ssim: value - 1e-6 })).status).toBe("passed");
      if (value < 1) expect((await likeBase(name, { min_ssim: value + 1e-6 })).status).toBe("failed");
    },
  );

  it.each(["fine.jpg", "coarse.jpg", "steps.jpg", "lossy.webp"])(
    "finds that of %s as far as two decoders of a lossy format agree",
    async (name) => {
      const value = expected.ssim[name] ?? Number.NaN;
      expect((await likeBase(name, { min_ssim: value - 0.02 })).status).toBe("passed");
      expect((await likeBase(name, { min_ssim: value + 0.02 })).status).toBe("failed");
    },
  );

  it("tells the same picture in another size or quality from another picture by its hash", async () => {
    for (const name of ["double.png", "coarse.jpg", "blurred.png", "lossy.webp"])
      expect(await likeBase(name, { max_hash_distance: 4 }), name).toMatchObject({ status: "passed" });
    expect(await likeBase("other.png", { max_hash_distance: 16 })).toMatchObject({
      status: "failed",
      evidence: expect.stringMatching(/^hash at most 16 bits away: saw \d\d$/) as string,
    });
  });

  it("compares pixels exactly, whatever format they were in, and with a gold file that the agent never sees", async () => {
    const equals = (name: string) =>
      at({ kind: "image", path: `/w/${name}` }, { type: "image", equals: base });
    expect(await equals("lossless.webp")).toEqual({ status: "passed", evidence: "4800 pixels as expected" });
    expect((await equals("fine.jpg")).evidence).toMatch(/^\d+ of 4800 pixels differ$/);
    expect(await equals("double.png")).toEqual({
      status: "failed",
      evidence: "is 160 x 120 instead of 80 x 60",
    });
    const gold = { type: "image", equals: { asset: "gold.bmp" }, width: { equals: 80 }, height: { max: 60 } };
    const graph = { id: "c", channel: "image", query: { kind: "image", path: "/w/base.png" }, assert: gold };
    const assets = { "gold.bmp": { sha256: "0".repeat(64), for: "grading" as const } };
    const readAsset = () => Promise.resolve(bytesOf("base.bmp"));
    const verdict = await evaluateGraph(
      graphOf(graph, { assets }),
      contextOf(new MemorySandbox({ files }), { readAsset }),
    );
    expect(verdict.checks[0]?.status, verdict.checks[0]?.evidence).toBe("passed");
  });

  it("demands a colour of a rectangle, within its tolerance", async () => {
    const sun = (colour: string, tolerance: number, x = 58) =>
      at(
        { kind: "image", path: "/w/fine.jpg" },
        { type: "image", regions: [{ x, y: 10, width: 10, height: 10, colour, tolerance }] },
      );
    expect((await sun("#ffdc28", 6)).status).toBe("passed");
    expect(await sun("#ffdc28", 6, 20)).toMatchObject({ status: "failed" });
    expect((await sun("#ffdc28", 6, 75)).evidence).toContain("is not in a picture of 80 x 60");
  });

  it("says that there is no similarity between sizes, nor below the window", async () => {
    expect(await likeBase("double.png", { min_ssim: 0 })).toMatchObject({ status: "failed" });
    const tiny = { files: { "/w/a.png": png(4, 4), "/w/b.png": png(4, 4) } };
    const other = { from: { channel: "image", query: { kind: "image", path: "/w/b.png" } } };
    const assert = { type: "image", similar: other, min_ssim: 0.5 };
    expect(await check("image", { kind: "image", path: "/w/a.png" }, assert, tiny)).toEqual({
      status: "ungraded",
      evidence: "a picture of 4 x 4 is smaller than the window of 11 x 11",
    });
  });

  it.each([
    [{ similar: base }, "similar goes with min_ssim, max_hash_distance or both"],
    [{ width: { equals: 3 }, min_ssim: 0.5 }, "similar goes with min_ssim"],
    [{}, "needs at least one of width, height, equals, similar, regions"],
    [{ width: { min: 9, max: 3 } }, "the range is empty"],
    [
      { equals: { from: { channel: "image", query: { kind: "info", path: "/x" } } } },
      "the expected value is json, but image",
    ],
    [
      { equals: { from: { channel: "image", query: { kind: "image", path: "/w/base.png" } } } },
      "come from the same file",
    ],
  ])("%j is refused: %s", async (demands, why) => {
    await expect(
      at({ kind: "image", path: "/w/base.png" }, { type: "image", ...demands }),
    ).rejects.toMatchObject({ code: "bad_task", message: expect.stringContaining(why) as string });
  });
});

/** A GIF of 8 x 1 with four colours made by hand, of codes of three bits. */
function gif(codes: number[]): Uint8Array {
  const bits = codes.reduceRight((sum, code) => (sum << 3) | code, 0);
  const packed = [bits & 255, (bits >> 8) & 255, (bits >> 16) & 255];
  const screen = [...Buffer.from("GIF89a"), 8, 0, 1, 0, 0x81, 0, 0, ...Array.from({ length: 12 }, () => 9)];
  return Uint8Array.from([...screen, 0x2c, 0, 0, 0, 0, 8, 0, 1, 0, 0, 2, packed.length, ...packed, 0, 0x3b]);
}

/** A grey PNG made by hand. */
function png(
  width: number,
  height: number,
  rows: Uint8Array = new Uint8Array((width + 1) * height),
): Uint8Array {
  const chunk = (type: string, data: Uint8Array): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const frame = Buffer.alloc(8);
    frame.writeUInt32BE(data.length, 0);
    frame.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  const signature = Uint8Array.of(137, 80, 78, 71, 13, 10, 26, 10);
  const end = chunk("IEND", new Uint8Array());
  return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", deflateSync(rows)), end]);
}

function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}

describe("a picture that an agent might leave", () => {
  const grey = { type: "json", exists: true };
  const seen = (bytes: Uint8Array) =>
    check("image", { kind: "info", path: "/w/x" }, grey, { files: { "/w/x": bytes } });

  it.each([
    ["text", Buffer.from("not a picture"), "no PNG, JPEG, GIF, BMP or WebP picture"],
    ["nothing", new Uint8Array(), "no PNG, JPEG, GIF, BMP or WebP picture"],
    ["one that claims a billion pixels", png(40_000, 40_000), "40000 x 40000, more than 16777216 pixels"],
    ["one without pixels", png(0, 5), "cannot be decoded as PNG"],
    ["a cut one", bytesOf("base.png").subarray(0, 4_000), "cannot be decoded as PNG"],
    ["a cut photograph", bytesOf("fine.jpg").subarray(0, 600), "cannot be decoded as JPEG"],
    ["a cut animation", bytesOf("base.gif").subarray(0, 900), "cannot be decoded as GIF"],
    // Read as others do it, the code 7 is made of itself, and followed for ever.
    ["an animation whose codes go in a circle", gif([4, 1, 7, 7, 7, 7]), "an unknown code"],
    ["an animation of no length", gif([4, 5]), "end before the frame does"],
    ["half a bitmap", bytesOf("base.bmp").subarray(0, 2_000), "cannot be decoded as BMP"],
    ["a cut WebP", bytesOf("lossless.webp").subarray(0, 400), "cannot be decoded as WEBP"],
    [
      "a small file that inflates to a gigabyte",
      png(16, 16, new Uint8Array(64 * 1024 * 1024)),
      "cannot be decoded as PNG",
    ],
  ])("%s is ungraded", async (_, bytes, why) => {
    expect(await seen(bytes)).toMatchObject({
      status: "ungraded",
      evidence: expect.stringContaining(why) as string,
    });
  });

  it("fails where there is none", async () => {
    const verdict = await grade({
      id: "c",
      channel: "image",
      query: { kind: "hash", path: "/w/none" },
      assert: { type: "text", equals: "0" },
    });
    expect(verdict.checks[0]).toMatchObject({ status: "failed", evidence: "there is nothing at /w/none" });
  });

  it("stands damaged bytes, and finds fault with some", async () => {
    const faults = await standsDamage(
      pictures.filter((name) => name !== "double.png").map(bytesOf),
      [
        { channel: "image", query: { kind: "info", path: "/w" } },
        { channel: "image", query: { kind: "region", path: "/w", x: 1, y: 1, width: 3, height: 3 } },
      ],
      400,
    );
    expect(faults).toBeGreaterThan(0);
  });
});
