/** What the recorder asks its thread for. Plain data: it crosses to the thread by structured clone. */
import type { Channel } from "../format/channels.js";

export interface OpenRequest {
  kind: "open";
  id: number;
  /** Folder of bundles, which holds the blobs and the index. */
  folder: string;
  /** Of the bundle, relative to the folder. */
  file: string;
  runtime: string;
  secrets: { values: string[]; variables: string[] };
  /** Number of the session, which its branches share: what was secret in one of its episodes is secret in all. */
  session: number;
}

/** The session and its branches are gone, and what was secret in them need not be known any more. */
export interface ForgetRequest {
  kind: "forget";
  /** Number of the session. */
  id: number;
}

/** Lists cross to the thread for half of what named fields cost, and events are most of what crosses. */
export type EventRequest = [
  id: number,
  channel: Channel,
  step: number,
  /** Guest milliseconds since the reset. */
  guest: number | null,
  /** Host milliseconds since 1970. */
  wall: number,
  action: string | undefined,
  payload: Record<string, unknown>,
  /** What is recorded next, and may tell what is secret in this. */
  next?: readonly unknown[] | undefined,
];

/** Close the chunk: the operating system has everything by then. */
export type FlushRequest = [id: number];

/** Finish the file; or leave it as it is, since its recorder has given it up. */
export interface EndRequest {
  kind: "finish" | "abandon";
  id: number;
}

/** Nothing is recorded any more: let folders be, and say so. */
export interface StopRequest {
  kind: "stop";
  id: 0;
}

export type RecorderRequest =
  | OpenRequest
  | EventRequest
  | FlushRequest
  | EndRequest
  | ForgetRequest
  | StopRequest;

/** Requests in the order of their numbers, which count all that this recorder ever asked for, modulo 2^32. */
export interface Batch {
  first: number;
  requests: RecorderRequest[];
}

/** Of what a bundle became; that whoever waits for a number may look whether it was reached; that the thread may end. */
export type RecorderReply =
  | { id: number; finished: { bytes: number } }
  | { id: number; failed: { code: string; message: string } }
  | "reached"
  | "stopped";

/**
 * Memory that both threads see, so that a session need not wait for a message to learn that its flush is done. Cells of an Int32Array.
 */
export const cells = {
  /** Number of the latest request that was served. */
  reached: 0,
  /** 1: somebody waits, and wants a message when the batch is done. */
  awaited: 1,
} as const;

/** What the thread is started with. */
export interface ThreadData {
  cells: Int32Array;
  /** Bytes that the folder may hold; null: as many as there come. */
  budgetBytes: number | null;
}

/** Whether number `n` comes no later than `reached`, across the overflow. */
export function isReached(reached: number, n: number): boolean {
  return ((reached - n) | 0) >= 0;
}
