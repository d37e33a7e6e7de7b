/** The frames of docs/agent-protocol.md: a 16-byte little-endian header and at most 64 KiB of payload. */
import { ShinkenError } from "../../errors/index.js";

export const headerBytes = 16;
export const maxPayloadBytes = 65_536;
/** Data frames of this payload fill one write of the guest's driver. */
export const dataBytes = 32_768 - headerBytes;

export const Kind = { request: 1, reply: 2, data: 3, event: 4, control: 5 } as const;
export const Flag = { final: 1, end: 2, error: 4 } as const;
export const Op = {
  hello: 1,
  exec: 2,
  await: 3,
  read: 4,
  write: 5,
  stat: 6,
  list: 7,
  processes: 8,
  wait: 9,
  freeze: 10,
  warm: 11,
  poweroff: 12,
  uniqueness: 13,
  unplug: 14,
  look: 15,
} as const;
export const Channel = { input: 0, stdout: 1, stderr: 2, records: 3, file: 4 } as const;
export const Control = { credit: 1, signal: 2, resize: 3, cancel: 4 } as const;
export const Event = { ready: 1, agentDied: 2, fault: 3 } as const;

export interface Frame {
  stream: number;
  kind: number;
  flags: number;
  op: number;
  credit: number;
  payload: Uint8Array;
}

const empty = new Uint8Array(0);

/** Bytes of a frame; what is not given is 0 or empty. Throws `too_large` if the payload exceeds the limit. */
export function encodeFrame(frame: Partial<Frame> & { kind: number }): Uint8Array {
  const payload = frame.payload ?? empty;
  if (payload.length > maxPayloadBytes) {
    throw new ShinkenError(
      "too_large",
      `A request to the guest may hold ${maxPayloadBytes} bytes, not ${payload.length}.`,
    );
  }
  const bytes = new Uint8Array(headerBytes + payload.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, payload.length, true);
  view.setUint32(4, frame.stream ?? 0, true);
  view.setUint8(8, frame.kind);
  view.setUint8(9, frame.flags ?? 0);
  view.setUint16(10, frame.op ?? 0, true);
  view.setUint32(12, frame.credit ?? 0, true);
  bytes.set(payload, headerBytes);
  return bytes;
}

function broken(why: string): ShinkenError {
  return new ShinkenError("agent_protocol", `The guest agent sent a broken frame: ${why}.`);
}

function check(kind: number, flags: number, stream: number): void {
  if (kind === Kind.event ? stream !== 0 : stream === 0) throw broken(`kind ${kind} on stream ${stream}`);
  const allowed =
    kind === Kind.reply
      ? Flag.final | Flag.error
      : kind === Kind.data
        ? Flag.end
        : kind === Kind.event || kind === Kind.control
          ? 0
          : -1;
  if (allowed < 0) throw broken(`kind ${kind} from a guest`);
  if ((flags & ~allowed) !== 0) throw broken(`flags ${flags} on kind ${kind}`);
}

/**
 * The frame at the start of `bytes`, of which `size` bytes belong to it, or null if more bytes are needed. Its payload shares
 * memory with `bytes`. Throws `agent_protocol` if no agent may send this.
 */
export function decodeFrame(bytes: Uint8Array): { frame: Frame; size: number } | null {
  if (bytes.length < headerBytes) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = view.getUint32(0, true);
  const stream = view.getUint32(4, true);
  const kind = view.getUint8(8);
  const flags = view.getUint8(9);
  if (length > maxPayloadBytes) throw broken(`a payload of ${length} bytes`);
  check(kind, flags, stream);
  const size = headerBytes + length;
  if (bytes.length < size) return null;
  const payload = bytes.subarray(headerBytes, size);
  return {
    frame: { stream, kind, flags, op: view.getUint16(10, true), credit: view.getUint32(12, true), payload },
    size,
  };
}

/** Cuts a port's bytes, in whatever pieces they come, into whole frames. Holds at most one unfinished frame. */
export class FrameSplitter {
  #held: Uint8Array = empty;

  /** Whole frames (header included) that `chunk` completes, in order. Throws `agent_protocol` on bytes that are no frame. */
  push(chunk: Uint8Array): Uint8Array[] {
    let bytes = chunk;
    if (this.#held.length > 0) {
      bytes = new Uint8Array(this.#held.length + chunk.length);
      bytes.set(this.#held);
      bytes.set(chunk, this.#held.length);
    }
    const frames: Uint8Array[] = [];
    let at = 0;
    for (let next = decodeFrame(bytes); next !== null; next = decodeFrame(bytes.subarray(at))) {
      frames.push(bytes.slice(at, at + next.size));
      at += next.size;
    }
    this.#held = bytes.slice(at);
    return frames;
  }
}

/** Data frames for `bytes` on the channel `input`; the last one carries END if `end`. None for no bytes and no end. */
export function inputFrames(stream: number, bytes: Uint8Array, end: boolean): Uint8Array[] {
  const frames: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += dataBytes) {
    const payload = bytes.subarray(at, at + dataBytes);
    const last = end && at + dataBytes >= bytes.length;
    frames.push(
      encodeFrame({ kind: Kind.data, stream, op: Channel.input, flags: last ? Flag.end : 0, payload }),
    );
  }
  if (end && bytes.length === 0) {
    frames.push(encodeFrame({ kind: Kind.data, stream, op: Channel.input, flags: Flag.end }));
  }
  return frames;
}

/** One array of all the bytes. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0] as Uint8Array;
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
