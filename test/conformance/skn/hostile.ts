/** Files that no writer of ours makes: whole by their checksums, wrong in what they say. By name, with the code of the error. */
import { createHash } from "node:crypto";
import { ExtData } from "@msgpack/msgpack";
import { BlobRef, TextDelta } from "../../../src/replay/format/values.js";
import { compress } from "../../../src/replay/format/zstd.js";
import { sessionOf } from "./bundles.js";
import { chunkOf, fileOf, pack, plainChunk, type RawChannel, recordOf, zstdChunk } from "./raw.js";

export interface Hostile {
  code: string;
  file: Buffer;
}

const channels: RawChannel[] = [
  "session",
  "action",
  "observation",
  "decision",
  "reward",
  "verdict",
  "permission",
  "marker",
].map((topic) => ({ topic, schema: `skn.${topic}` }));
const [session, action, observation, reward, verdict, marker] = [1, 2, 3, 5, 6, 8];

const at = (seq: unknown): Record<string, unknown> => ({ seq, step: 0, t_guest: null, t_wall: 1 });
const first = pack({ ...at(0), ...sessionOf("hostile") });

/** A bundle of a session and these messages. */
function bundle(...messages: [channel: number, data: Uint8Array][]): Buffer {
  const all = [[session, first] as const, ...messages].map(([channel, data]) => ({ channel, data }));
  return fileOf([zstdChunk(chunkOf(channels, all))]);
}

/** As the second event: a marker with a field of these bytes. */
function field(...bytes: (number | Uint8Array)[]): Buffer {
  const tail = bytes.map((part) => (typeof part === "number" ? Uint8Array.of(part) : part));
  const head = pack({ ...at(1), kind: "k" });
  return bundle([
    marker,
    Buffer.concat([Uint8Array.of((head[0] ?? 0) + 1), head.subarray(1), Uint8Array.of(0xa1, 0x78), ...tail]),
  ]);
}

const value = (inner: unknown): Buffer => bundle([marker, pack({ ...at(1), kind: "k", x: inner })]);
const seen = (result: unknown, seq: number): [number, Uint8Array] => [
  observation,
  pack({
    ...at(seq),
    observation: { results: [{ text: result }] },
    terminated: false,
    truncated: false,
    info: {},
  }),
];
const long = "long ".repeat(100);

function nested(levels: number): Uint8Array {
  return Buffer.concat([Buffer.alloc(levels, 0x91), Uint8Array.of(0xc0)]);
}

const bad = (file: Buffer): Hostile => ({ code: "bad_bundle", file });
const u32 = (number: number): number[] => [...Buffer.from(Uint32Array.of(number).buffer).reverse()];

/** Content of blobs that lie, by the hash under which they lie. */
export const hostileBlobs: Record<string, Uint8Array> = {
  ["ee".repeat(32)]: compress(Buffer.from("another content")),
  ["dd".repeat(32)]: Buffer.from("no frame"),
  [createHash("sha256").update(Uint8Array.of(0xff)).digest("hex")]: compress(Uint8Array.of(0xff)),
};
const notUtf8 = Object.keys(hostileBlobs)[2] ?? "";

/** Made when they are asked for: compression has to be loaded first. */
export function hostileFiles(): Record<string, Hostile> {
  const good = plainChunk(chunkOf(channels, [{ channel: session, data: first }]));
  const zeros = Buffer.alloc(64 * 1024 * 1024 + 1);
  return {
    "no-mcap": bad(Buffer.from("This is no MCAP file, and never was one.\n")),
    "other-profile": bad(fileOf([good], { profile: "ros2" })),
    "no-header": bad(Buffer.concat([bundle().subarray(0, 8), recordOf(0x80, new Uint8Array(0))])),
    "no-data-end": bad(fileOf([good], { dataEnd: false })),
    "bytes-after-the-end": bad(Buffer.concat([bundle(), Uint8Array.of(0)])),
    "record-too-long": bad(fileOf([good], { raw: recordOf(0x80, new Uint8Array(0), 2n ** 40n) })),
    "record-beyond-the-end": bad(fileOf([good], { raw: recordOf(0x80, new Uint8Array(0), 2n ** 20n) })),
    "channel-too-short": bad(fileOf([good], { raw: recordOf(4, Uint8Array.of(1, 0, 0, 0, 200)) })),
    "channel-metadata-lies": bad(
      fileOf([good], {
        raw: recordOf(
          4,
          Uint8Array.of(99, 0, 0, 0, ...Array<number>(8).fill(0), 4, 0, 0, 0, ...Array<number>(8).fill(0)),
        ),
      }),
    ),
    "message-too-short": bad(fileOf([good], { raw: recordOf(5, new Uint8Array(21)) })),
    "message-of-no-channel": bad(bundle([77, pack({ ...at(1), kind: "k" })])),
    "too-many-channels": bad(
      fileOf([
        plainChunk(
          chunkOf(
            Array.from({ length: 1_025 }, (_, n) => ({ topic: `t${n}` })),
            [],
          ),
        ),
      ]),
    ),
    "chunk-by-lz4": bad(fileOf([{ ...good, compression: "lz4" }])),
    "chunk-size-lies": bad(fileOf([{ ...good, uncompressedSize: good.uncompressedSize + 1n }])),
    "chunk-crc-lies": bad(fileOf([{ ...good, uncompressedCrc: 1 }])),
    "chunk-no-frame": bad(fileOf([{ ...good, compression: "zstd" }])),
    "chunk-bomb": bad(fileOf([zstdChunk(zeros)])),
    "chunk-bomb-that-lies": bad(fileOf([{ ...zstdChunk(zeros), uncompressedSize: 100n }])),
    "chunk-cut": bad(fileOf([plainChunk(good.records.subarray(0, -3))])),
    "nested-too-deep": bad(field(nested(64))),
    "nested-deeper-than-stacks": bad(field(nested(100_000))),
    "field-twice": bad(
      bundle([
        marker,
        Buffer.concat([Uint8Array.of(0x82), pack("kind"), pack("k"), pack("kind"), pack("k")]),
      ]),
    ),
    "field-named-by-a-number": bad(field(0x81, 0x01, 0x02)),
    "integer-too-large": bad(field(0xcf, 0, 32, 0, 0, 0, 0, 0, 0)),
    "integer-too-small": bad(field(0xd3, 0xff, 0xdf, 255, 255, 255, 255, 255, 255)),
    "text-no-utf8": bad(field(0xa1, 0xff)),
    "text-surrogate-in-utf8": bad(field(0xa3, 0xed, 0xa0, 0x80)),
    "list-longer-than-the-file": bad(field(0xdd, ...u32(2 ** 32 - 1))),
    "list-of-many": bad(field(0xdd, ...u32(1_048_577), new Uint8Array(1_048_577))),
    "map-longer-than-the-file": bad(field(0xdf, ...u32(2 ** 31))),
    "text-longer-than-the-file": bad(field(0xdb, ...u32(2 ** 31))),
    "unused-byte": bad(field(0xc1)),
    "bytes-after-the-value": bad(
      bundle([marker, Buffer.concat([pack({ ...at(1), kind: "k" }), Uint8Array.of(0)])]),
    ),
    "event-no-map": bad(bundle([marker, pack([1])])),
    "extension-of-msgpack": bad(field(0xd6, 0xff, 0, 0, 0, 0)),
    "blob-too-short": bad(value(new ExtData(1, new Uint8Array(40)))),
    "blob-of-no-kind": bad(value(new ExtData(1, Buffer.concat([new Uint8Array(40), Uint8Array.of(3)])))),
    "blob-beyond-integers": bad(
      value(new ExtData(1, Buffer.concat([new Uint8Array(32), Uint8Array.of(0, 32, 0, 0, 0, 0, 0, 0, 1)]))),
    ),
    "delta-too-short": bad(value(new ExtData(2, new Uint8Array(7)))),
    "delta-no-utf8": bad(value(new ExtData(2, Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0xff)))),
    "utf16-of-half-a-unit": bad(value(new ExtData(3, new Uint8Array(3)))),
    "delta-of-nothing": bad(bundle(seen(new TextDelta(100, 100, "x"), 1))),
    "delta-of-a-short-text": bad(bundle(seen("short", 1), seen(new TextDelta(1, 1, "x"), 2))),
    "delta-beyond-its-text": bad(bundle(seen(long, 1), seen(new TextDelta(300, 300, "x"), 2))),
    "delta-of-one-before-the-last": bad(
      bundle(seen(long, 1), seen("short", 2), seen(new TextDelta(100, 100, "x"), 3)),
    ),
    "event-missing": bad(bundle([marker, pack({ ...at(2), kind: "k" })])),
    "event-without-number": bad(bundle([marker, pack({ step: 0, t_guest: null, t_wall: 1, kind: "k" })])),
    "session-not-first": bad(
      fileOf([plainChunk(chunkOf(channels, [{ channel: marker, data: pack({ ...at(0), kind: "k" }) }]))]),
    ),
    "session-twice": bad(bundle([session, pack({ ...at(1), ...sessionOf("again") })])),
    "session-without-version": bad(
      fileOf([
        plainChunk(
          chunkOf(channels, [{ channel: session, data: pack({ ...at(0), ...sessionOf("x"), skn: "1" }) }]),
        ),
      ]),
    ),
    "version-2": {
      code: "unsupported_version",
      file: fileOf([plainChunk(chunkOf(channels, [{ channel: session, data: pack({ skn: 2 }) }]))]),
    },
    "events-in-json": bad(
      fileOf([
        plainChunk(
          chunkOf([{ topic: "session", encoding: "json" }], [{ channel: 1, data: Buffer.from("{}") }]),
        ),
      ]),
    ),
    "later-channel-out-of-order": bad(
      fileOf([
        plainChunk(
          chunkOf(
            [{ topic: "session" }, { topic: "thought", schema: "skn.thought" }],
            [
              { channel: 1, data: first },
              { channel: 2, data: pack(at(5)) },
            ],
          ),
        ),
      ]),
    ),
    "score-a-text": bad(
      bundle([verdict, pack({ ...at(1), verdict: { status: "graded", score: "1" }, verifier: "v", ms: 1 })]),
    ),
    "reward-not-finite": bad(bundle([reward, pack({ ...at(1), reward: Number.NaN, check: null })])),
    "action-without-type": bad(bundle([action, pack({ ...at(1), action: {} })])),
    "step-negative": bad(bundle([marker, pack({ ...at(1), step: -1, kind: "k" })])),
    "seed-of-a-fork-with-a-line-end": bad(
      fileOf([
        plainChunk(
          chunkOf(channels, [
            {
              channel: session,
              data: pack({
                ...at(0),
                ...sessionOf("x", { fork: { kind: "replica", seed: `${"0f".repeat(32)}\n`, clock: null } }),
              }),
            },
          ]),
        ),
      ]),
    ),
    "blob-missing": { code: "blob_missing", file: value(new BlobRef("aa".repeat(32), 20, "text")) },
    "blob-of-another-hash": bad(value(new BlobRef("ee".repeat(32), 15, "text"))),
    "blob-of-another-size": bad(value(new BlobRef("ee".repeat(32), 14, "text"))),
    "blob-no-frame": bad(value(new BlobRef("dd".repeat(32), 8, "bytes"))),
    "blob-no-utf8": bad(value(new BlobRef(notUtf8, 1, "text"))),
    "blob-half-a-unit": bad(value(new BlobRef(notUtf8, 1, "utf16"))),
    "blob-too-large": {
      code: "too_large",
      file: value(new BlobRef("ee".repeat(32), 300 * 1024 * 1024, "text")),
    },
    "event-too-large": {
      code: "too_large",
      file: value(Array.from({ length: 3 }, () => new BlobRef("ee".repeat(32), 200 * 1024 * 1024, "text"))),
    },
  };
}
