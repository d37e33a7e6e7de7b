import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  decodeFrame,
  encodeFrame,
  FrameSplitter,
  headerBytes,
  inputFrames,
  joined,
  maxPayloadBytes,
} from "../../src/sandbox/agent/frame.js";

/** Any frame that an agent may send. */
const agentFrame = fc
  .record({
    kind: fc.constantFrom(2, 3, 4, 5),
    stream: fc.integer({ min: 1, max: 0xffff_ffff }),
    bits: fc.nat(7),
    op: fc.nat(0xffff),
    credit: fc.nat(0xffff_ffff),
    payload: fc.uint8Array({ maxLength: 300 }),
  })
  .map(({ kind, stream, bits, ...rest }) => ({
    ...rest,
    kind,
    stream: kind === 4 ? 0 : stream,
    flags: bits & (kind === 2 ? 5 : kind === 3 ? 2 : 0),
  }));

describe("frames of the agent protocol", () => {
  it("come back as they went in", () => {
    fc.assert(
      fc.property(agentFrame, (frame) => {
        const bytes = encodeFrame(frame);
        expect(decodeFrame(bytes)).toEqual({ frame, size: bytes.length });
      }),
    );
  });

  it("have the layout of the specification", () => {
    const bytes = encodeFrame({
      kind: 2,
      stream: 0x01020304,
      flags: 5,
      op: 0x0607,
      credit: 0x08090a0b,
      payload: Uint8Array.of(0xc0),
    });
    expect(Buffer.from(bytes).toString("hex")).toBe("010000000403020102050706" + "0b0a0908" + "c0");
  });

  it("are found again however the port cuts its bytes", () => {
    fc.assert(
      fc.property(
        fc.array(agentFrame, { maxLength: 6 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 200 })),
        (frames, cuts) => {
          const all = frames.map((frame) => encodeFrame(frame));
          const bytes = joined(all);
          const splitter = new FrameSplitter();
          const found: Uint8Array[] = [];
          for (let at = 0; at < bytes.length; ) {
            const size = cuts.next().value as number;
            found.push(...splitter.push(bytes.subarray(at, at + size)));
            at += size;
          }
          expect(found).toEqual(all);
        },
      ),
    );
  });

  it("never throw anything but agent_protocol, whatever the guest sends", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        try {
          const decoded = decodeFrame(bytes);
          if (decoded !== null) expect(decoded.size).toBeLessThanOrEqual(bytes.length);
        } catch (error) {
          expect(error).toMatchObject({ code: "agent_protocol" });
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("are refused when longer than the limit, before their payload is there", () => {
    const header = encodeFrame({ kind: 2, stream: 1 });
    new DataView(header.buffer).setUint32(0, maxPayloadBytes + 1, true);
    expect(() => decodeFrame(header)).toThrow(/payload of 65537 bytes/);
    expect(() => encodeFrame({ kind: 1, stream: 1, payload: new Uint8Array(maxPayloadBytes + 1) })).toThrow(
      expect.objectContaining({ code: "too_large" }),
    );
  });

  it("are refused when their kind is the host's, or their stream does not fit it", () => {
    for (const frame of [
      { kind: 1, stream: 1 },
      { kind: 9, stream: 1 },
      { kind: 2, stream: 0 },
      { kind: 4, stream: 1 },
      { kind: 3, stream: 1, flags: 1 },
    ])
      expect(() => decodeFrame(encodeFrame(frame))).toThrow(
        expect.objectContaining({ code: "agent_protocol" }),
      );
  });

  it("carry input of any size, with END once and last", () => {
    fc.assert(
      fc.property(fc.nat(120_000), fc.boolean(), (size, end) => {
        const bytes = new Uint8Array(size).map((_, index) => index * 7);
        const frames = inputFrames(5, bytes, end);
        const ends = frames.map((frame) => (frame[9] ?? 0) & 2);
        expect(Buffer.compare(joined(frames.map((frame) => frame.subarray(headerBytes))), bytes)).toBe(0);
        expect(ends.filter((flag) => flag !== 0)).toHaveLength(end ? 1 : 0);
        if (end) expect(ends.at(-1)).toBe(2);
      }),
      { numRuns: 30 },
    );
  });
});
