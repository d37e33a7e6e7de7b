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
}

export interface EventRequest {
  kind: "event";
  id: number;
  channel: Channel;
  step: number;
  /** Guest milliseconds since the reset. */
  guest: number | null;
  /** Host milliseconds since 1970. */
  wall: number;
  action: string | undefined;
  payload: Record<string, unknown>;
}

/** Close the chunk; with `finish`, also the file. */
export interface FlushRequest {
  kind: "flush" | "finish" | "abandon";
  id: number;
  mark: number;
}

export type RecorderRequest = OpenRequest | EventRequest | FlushRequest;

/** The mark of a bundle is reached, or it has failed and records no more. */
export type RecorderReply =
  | { id: number; mark: number; bytes: number }
  | { id: number; failed: { code: string; message: string } };
