import { readdirSync, readFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { closePool } from "../../../src/verifiers/index.js";
import { check, standsDamage } from "./support.js";

afterAll(closePool);

const folder = new URL("./fixtures/media/", import.meta.url);
const names = readdirSync(folder).filter((name) => !name.endsWith(".sh"));
const bytesOf = (name: string): Uint8Array => readFileSync(new URL(name, folder));
const files = {
  ...Object.fromEntries(names.map((name) => [`/w/${name}`, bytesOf(name)])),
  "/w/text.mp3": "not a song",
  "/w/empty.mp3": "",
};
const at = (path: string, assert: object) =>
  check("media", { kind: "info", path }, { type: "json", ...assert }, { files });

describe("media", () => {
  it.each([
    ["tone.mp3", "MPEG", "MPEG 2 Layer 3", 1, 16_000, 1],
    ["tone.ogg", "Ogg", "Vorbis I", 1, 16_000, 1],
    ["tone.opus", "Ogg", "Opus", 1, 16_000, 1],
    ["tone.flac", "FLAC", "FLAC", 1, 16_000, 2],
    ["tone.wav", "WAVE", "PCM", 0.25, 44_100, 2],
    ["tone.m4a", "M4A/isom/iso2", "MPEG-4/AAC", 1, 44_100, 1],
    ["clip.mp4", "isom/iso2/mp41", "MPEG-4/AAC", 1, 16_000, 1],
    ["clip.webm", "EBML/webm", "OPUS", 1, 16_000, 1],
  ])(
    "reads of %s that it is %s, %s, %d s, %d Hz, %d channels",
    async (name, container, codec, seconds, rate, channels) => {
      const subset = { container, codec, sample_rate: rate, channels };
      const told = await at(`/w/${name}`, { subset });
      expect(told.status, told.evidence).toBe("passed");
      // An encoder adds up to two frames at the ends.
      const long = await at(`/w/${name}`, { path: "/duration", equals: seconds, tolerance: 0.1 });
      expect(long.status, long.evidence).toBe("passed");
    },
  );

  it.each(names)("reads the tags of %s", async (name) => {
    const tags = { title: "Tone", artist: "Nobody", genre: ["Noise"], track: { no: 3, of: 9 } };
    const { status, evidence } = await at(`/w/${name}`, { path: "/tags", subset: tags });
    expect(status, evidence).toBe("passed");
  });

  it("tells sound from pictures, and how large these are", async () => {
    expect(
      (await at("/w/clip.webm", { path: "/tracks/0", subset: { codec: "VP8", width: 64, height: 48 } }))
        .status,
    ).toBe("passed");
    for (const [name, video] of [
      ["clip.mp4", true],
      ["tone.m4a", false],
    ] as const)
      expect((await at(`/w/${name}`, { subset: { has_audio: true, has_video: video } })).status).toBe(
        "passed",
      );
  });

  it("fails where there is no file, and is ungraded where it is no media", async () => {
    expect((await at("/w/none.mp3", { exists: true })).status).toBe("failed");
    for (const path of ["/w/text.mp3", "/w/empty.mp3"])
      expect(await at(path, { exists: true })).toMatchObject({
        status: "ungraded",
        evidence: expect.stringContaining("is no audio or video file that can be read") as string,
      });
  });

  it("stands damaged bytes, and finds fault with some", async () => {
    const faults = await standsDamage(
      names.map(bytesOf),
      [{ channel: "media", query: { kind: "info", path: "/w" } }],
      500,
    );
    expect(faults).toBeGreaterThan(0);
  });
});
