/** What an agent sent and got back: the entries of a HAR file. */
import { z } from "zod";
import { parseOrThrow } from "../../errors/parse.js";
import { isJsonObject, type Json, type JsonObject } from "../../verifiers/assertions/json-value.js";
import { lower, strip } from "../python/text.js";
import { parseQuery, parseUrl, unquote } from "../python/urls.js";

// HAR files hold much that no evaluator asks for: only what is used is looked at.
const pairs = z.array(z.looseObject({ name: z.string(), value: z.string().default("") })).default([]);
const body = z.looseObject({ mimeType: z.string().default(""), text: z.string().default("") });

const entry = z.looseObject({
  request: z.looseObject({ url: z.string(), method: z.string(), headers: pairs, postData: body.nullish() }),
  response: z.looseObject({
    status: z.number().int(),
    headers: pairs,
    cookies: pairs,
    content: body.nullish(),
  }),
});
type Entry = z.output<typeof entry>;

const har = z.looseObject({ log: z.looseObject({ entries: z.array(entry).min(1) }) });

/** Static files say nothing about what was done. */
const statics = /\.(?:css|js|png|jpg|jpeg|gif|svg|woff|woff2|ttf|ico|webp)$/;

/** One request with its response. */
export class NetworkEvent {
  readonly #entry: Entry;

  constructor(given: Entry) {
    this.#entry = given;
  }

  get url(): string {
    return this.#entry.request.url;
  }

  get method(): string {
    return this.#entry.request.method;
  }

  get status(): number {
    return this.#entry.response.status;
  }

  /** A request header's value; the last of that name. */
  header(name: string): string | undefined {
    const wanted = name.toLowerCase();
    return this.#entry.request.headers.findLast((one) => one.name.toLowerCase() === wanted)?.value;
  }

  /** Cookies that the response sets, with their values unquoted. */
  get cookies(): JsonObject {
    return Object.fromEntries(this.#entry.response.cookies.map(({ name, value }) => [name, unquote(value)]));
  }

  get posted(): JsonObject | undefined {
    return contentOf(this.#entry.request.postData);
  }

  get received(): JsonObject | undefined {
    return contentOf(this.#entry.response.content);
  }

  get isStatic(): boolean {
    return statics.test(parseUrl(this.url).value?.path ?? "");
  }

  /** Whether a page was opened. */
  get isNavigation(): boolean {
    if (this.method !== "GET") return false;
    const header = (name: string): string => lower(this.header(name) ?? "");
    const accept = header("accept");
    if (this.header("sec-fetch-user") === undefined) return accept.startsWith("text/html");
    return (
      header("sec-fetch-dest") === "document" &&
      header("sec-fetch-mode") === "navigate" &&
      header("sec-fetch-user") === "?1" &&
      accept.includes("text/html")
    );
  }
}

/**
 * The events of a HAR file that count, in its order.
 * @throws ShinkenError `bad_request` with the path of the first fault
 */
export function parseHar(file: unknown): NetworkEvent[] {
  return parseOrThrow(har, file, "bad_request")
    .log.entries.map((one) => new NetworkEvent(one))
    .filter((event) => !event.isStatic);
}

function contentOf(given: z.output<typeof body> | null | undefined): JsonObject | undefined {
  if (given === null || given === undefined || given.text === "") return undefined;
  const { mimeType, text } = given;
  if (mimeType.includes("application/x-www-form-urlencoded")) {
    return Object.fromEntries(
      [...parseQuery(text, { blank: true })].map(([name, values]) => [name, values[0] ?? ""]),
    );
  }
  if (mimeType.includes("application/json")) {
    const value = parseJson(text);
    if (isJsonObject(value)) return value;
  }
  const boundary = mimeType.includes("multipart/form-data")
    ? /boundary=([^;\s]+)/.exec(mimeType)?.[1]
    : undefined;
  return boundary === undefined ? undefined : partsOf(text, boundary);
}

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Fields of a form that was sent in parts. */
function partsOf(text: string, boundary: string): JsonObject {
  const fields: [string, string][] = [];
  for (const given of text.split(`--${boundary}`)) {
    const part = strip(given);
    const [, head, content] = /^(.*?)(?:\r\n\r\n|\n\n)(.*)$/s.exec(part) ?? [];
    if (head === undefined || content === undefined) continue;
    const line = head.split("\r\n").find((one) => one.toLowerCase().startsWith("content-disposition:"));
    const name = /name="([^"]+)"/.exec(line ?? "")?.[1];
    if (name !== undefined) fields.push([name, content.replace(/[\r\n]+$/, "")]);
  }
  return Object.fromEntries(fields);
}
