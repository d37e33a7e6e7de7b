/** What a failed request means: whether to try again, and when. */
import { APIConnectionError, APIConnectionTimeoutError, APIError } from "openai";

export interface RequestFailure {
  /** A sentence, without what is secret. */
  why: string;
  retry: boolean;
  /** Milliseconds that the endpoint asked us to wait. */
  afterMs: number | null;
  /** The request is longer than the model's context. */
  isTooLong: boolean;
}

type AnyApiError = APIError<number | undefined, Headers | undefined, object | undefined>;

/** Thrown for a 200 whose body is no completion. */
export class BadReply extends Error {
  override readonly name = "BadReply";
}

/** Statuses that say nothing of the request itself: time-out, conflict, too early, too many. */
const passing = new Set([408, 409, 425, 429]);
/** Codes under which a 429 will stay one. */
const lasting = new Set(["insufficient_quota", "billing_hard_limit_reached"]);
const shownChars = 500;

export function failureOf(error: unknown): RequestFailure {
  const failure = (why: string, retry: boolean, more: Partial<RequestFailure> = {}): RequestFailure => ({
    why: why.slice(0, shownChars),
    retry,
    afterMs: null,
    isTooLong: false,
    ...more,
  });
  if (error instanceof BadReply) return failure(error.message, true);
  if (error instanceof APIConnectionTimeoutError) return failure("the request timed out", true);
  if (error instanceof APIConnectionError) return failure(`no connection: ${rootOf(error)}`, true);
  if (error instanceof APIError) {
    const { status, headers, code, message } = error as AnyApiError;
    if (status !== undefined) {
      const retry = (passing.has(status) || status >= 500) && !lasting.has(code ?? "");
      const isTooLong = status === 400 && isAboutLength(error as AnyApiError);
      return failure(message, retry, { afterMs: retryAfter(headers), isTooLong });
    }
  }
  // What a broken body throws on the way, from the parser or the socket.
  return failure(`the reply could not be read: ${rootOf(error)}`, true);
}

/** OpenAI and vLLM have a code or a type for it, others only words. */
function isAboutLength({ code, type, message }: AnyApiError): boolean {
  return (
    code === "context_length_exceeded" ||
    type === "exceed_context_size_error" ||
    /context (length|size|window)|maximum model length/i.test(message)
  );
}

/** The innermost cause says most: fetch only says that it failed. */
function rootOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? rootOf(error.cause) : error.message;
}

/** RFC 9110, 10.2.3: seconds or a date; and the milliseconds that OpenAI adds. Null where there is none. */
function retryAfter(headers: Headers | undefined): number | null {
  const exact = Number.parseFloat(headers?.get("retry-after-ms") ?? "");
  if (exact >= 0) return exact;
  const text = headers?.get("retry-after");
  if (text === null || text === undefined) return null;
  const ms = /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}
