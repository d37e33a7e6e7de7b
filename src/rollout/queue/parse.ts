/** What callers hand to a queue, parsed once for every implementation. */
import { z } from "zod";
import { ShinkenError } from "../../errors/index.js";
import { parseOrThrow } from "../../errors/parse.js";
import { defaultAttempts, type NewJob, type NodeNotice } from "./types.js";

/** Bytes of a payload, a result or a description as JSON. */
const maxPayloadBytes = 1024 ** 2;
const maxResultBytes = 16 * 1024 ** 2;
const maxReason = 2_000;
const maxGoldens = 4_096;
const maxDelayMs = 24 * 3_600_000;
export const maxPriority = 1_000;

const name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._/-]{0,255}$/, {
  error: "1 to 256 letters, digits, '.', '_', '/' or '-', starting with a letter or digit",
});
const golden = z.string().min(1).max(256);
const newJob = z.strictObject({
  id: name,
  run: name,
  golden: golden.nullish(),
  priority: z.int().min(0).max(maxPriority).optional(),
  attempts: z.int().min(1).max(100).optional(),
  payload: z.unknown(),
});
const notice = z.strictObject({
  node: name,
  url: z.url({ protocol: /^https?$/ }).nullable(),
  goldens: z.array(golden).max(maxGoldens).readonly(),
});

/** A job with nothing unsaid; its payload is JSON. */
export interface ParsedJob {
  id: string;
  run: string;
  golden: string | null;
  priority: number;
  attempts: number;
  payload: string;
}

export function parseJob(given: NewJob): ParsedJob {
  const {
    id,
    run,
    golden: held = null,
    priority = 0,
    attempts = defaultAttempts,
    payload,
  } = parseOrThrow(newJob, given, "bad_request");
  return { id, run, golden: held, priority, attempts, payload: json(payload, "payload", maxPayloadBytes) };
}

export const parseName = (given: string): string => parseOrThrow(name, given, "bad_request");
export const parseNotice = (given: NodeNotice): NodeNotice => parseOrThrow(notice, given, "bad_request");
export const resultJson = (result: unknown): string => json(result, "result", maxResultBytes);
export const descriptionJson = (description: unknown): string =>
  json(description, "description", maxPayloadBytes);

export const parseDelay = (ms: number): number =>
  parseOrThrow(z.int().min(0).max(maxDelayMs), ms, "bad_request");
export const parseLimit = (limit: number): number =>
  parseOrThrow(z.int().min(1).max(10_000), limit, "bad_request");

/** A reason may quote a guest or a stack: its beginning says enough. */
export const shortReason = (reason: string): string => reason.slice(0, maxReason);

function json(value: unknown, path: string, limit: number): string {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw new ShinkenError("bad_request", `${path}: is no JSON`, { path });
  if (Buffer.byteLength(text) > limit)
    throw new ShinkenError("too_large", `${path}: more than ${limit} bytes of JSON`, { path });
  return text;
}
