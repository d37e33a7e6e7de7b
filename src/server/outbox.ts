/**
 * The send queue of one connection. The transport drops messages in silence once a reader is slow enough; so at most
 * one message at a time is left to its buffer, the rest wait here, within a byte bound.
 */
import { Buffer } from "node:buffer";
import type { Socket } from "./uws.js";

/** While the transport holds more than this, messages wait in the queue. */
const transportBytes = 256 * 1024;

/** Why a connection cannot go on. */
export type SendFault = "slow_consumer" | "dropped";

export class Outbox {
  private readonly socket: Socket;
  private readonly maxBytes: number;
  private readonly onFault: (fault: SendFault) => void;
  private queue: (string | Uint8Array)[] = [];
  private head = 0;
  private queuedBytes = 0;
  private dead = false;
  private pumping = false;

  /** `onFault` is called once; nothing is sent afterwards. */
  constructor(socket: Socket, maxBytes: number, onFault: (fault: SendFault) => void) {
    this.socket = socket;
    this.maxBytes = maxBytes;
    this.onFault = onFault;
  }

  /** Sends or queues. The bytes may be reused by the caller afterwards. */
  send(message: string | Uint8Array): void {
    if (this.dead) return;
    if (this.head === this.queue.length && this.socket.buffered() < transportBytes) {
      this.hand(message);
      return;
    }
    const bytes = sizeOf(message);
    if (this.queuedBytes + bytes > this.maxBytes) {
      this.fail("slow_consumer");
      return;
    }
    this.queuedBytes += bytes;
    this.queue.push(typeof message === "string" ? message : new Uint8Array(message));
  }

  /**
   * To be called when the transport has sent something of what it held. Sends later: uWebSockets.js stops watching a
   * socket for writability after its drain callback, even if a send inside that callback could not finish.
   */
  drain(): void {
    if (this.pumping || this.dead) return;
    this.pumping = true;
    setImmediate(() => {
      this.pumping = false;
      this.pump();
    });
  }

  /** Drops what waits; used when the socket has gone. */
  close(): void {
    this.dead = true;
    this.queue = [];
    this.head = 0;
    this.queuedBytes = 0;
  }

  private pump(): void {
    while (!this.dead && this.head < this.queue.length && this.socket.buffered() < transportBytes) {
      const message = this.queue[this.head] as string | Uint8Array;
      this.queue[this.head++] = "";
      this.queuedBytes -= sizeOf(message);
      this.hand(message);
    }
    if (this.head === this.queue.length) {
      this.queue = [];
      this.head = 0;
    }
  }

  private hand(message: string | Uint8Array): void {
    if (this.socket.send(message) === "dropped") this.fail("dropped");
  }

  private fail(fault: SendFault): void {
    this.close();
    this.onFault(fault);
  }
}

function sizeOf(message: string | Uint8Array): number {
  return typeof message === "string" ? Buffer.byteLength(message) : message.length;
}
