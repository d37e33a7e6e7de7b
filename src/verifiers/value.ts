/** What channels return and assertions judge. Plain data, so that it can go to a worker. */
import type { FileType } from "../sandbox/sandbox.js";
import type { JudgeRecord } from "./judge/plan.js";
import type { Json } from "./assertions/schema.js";

/** A cell of a table. NULL is a value of its own, equal to nothing but itself; bytes are kept as hex. */
export type Cell = string | number | null | { blob: string };

export interface FileFacts {
  kind: FileType;
  size: number;
  /** Permission bits. */
  mode: number;
  uid: number;
  target?: string | undefined;
  /** Present where the assertion asks for it and the path is a regular file. */
  sha256?: string | undefined;
}

/** A decoded picture. */
export interface Picture {
  format: string;
  width: number;
  height: number;
  /** As the file holds them; the pixels always have four. */
  channels: number;
  /** Red, green, blue and alpha of each pixel, row by row from the top. */
  pixels: Uint8Array;
}

export type Value =
  | { type: "text"; value: string }
  | { type: "number"; value: number }
  | { type: "json"; value: Json }
  | { type: "table"; columns: string[]; rows: Cell[][] }
  | { type: "file"; value: FileFacts }
  | { type: "list"; value: (string | number)[] }
  | { type: "bytes"; value: Uint8Array }
  | { type: "image"; value: Picture };

/** What a query came to: a value, or word that the thing asked for is not there (which is a failed check, not an error). */
export type Answer = Value | { absent: string };

/** What an assertion came to. */
export interface Judgement {
  /** In [0,1]. */
  score: number;
  /** What was seen and what was wanted. */
  evidence: string;
  /** Of a judge node: who judged, and what each criterion came to. */
  judge?: JudgeRecord;
}

/**
 * The value cannot be judged because of what it is: malformed, of the wrong type, too large. The check is ungraded, or
 * fails where its author wrote `on_error: fail`. Time-outs and dead machines are never this.
 */
export class ContentFault extends Error {
  override readonly name = "ContentFault";
  /** Nobody wrote anything malformed, the question is undecided: ungraded whatever `on_error` says. */
  open = false;
  /** Of a judge that came to no decision: what it said and cost all the same. */
  judge?: JudgeRecord;
}
