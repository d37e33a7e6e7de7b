/** A response as curl prints it: headers as they came, a body without its transfer coding. */
import type { Json } from "../../assertions/schema.js";
import { parseJson } from "../../parse/json.js";
import { decodeText } from "../../parse/text.js";
import { type Answer, ContentFault } from "../../value.js";
import type { Parser } from "../parsers.js";
import type { HttpQuery } from "./query.js";

/** Interim responses before the one that counts. */
const INTERIM_LIMIT = 16;

interface Response {
  status: number;
  headers: [string, string][];
  body: Uint8Array;
}

export const parseHttp: Parser<HttpQuery> = (bytes, query, what): Answer => {
  const { status, headers, body } = readResponse(bytes, what);
  if (body.length > query.max_bytes)
    throw new ContentFault(`${what}: a body of more than ${query.max_bytes} bytes`);
  if (query.kind === "status") return { type: "number", value: status };
  if (status !== query.expect_status)
    return { absent: `${what}: status ${status} instead of ${query.expect_status}` };
  switch (query.kind) {
    case "text":
      return { type: "text", value: decodeText(body, `${what}: the body`) };
    case "json":
      return { type: "json", value: parseJson(decodeText(body, `${what}: the body`), `${what}: the body`) };
    case "headers":
      return { type: "json", value: headerJson(headers) };
  }
};

function readResponse(bytes: Uint8Array, what: string): Response {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  for (let count = 0; count < INTERIM_LIMIT; count++) {
    const end = buffer.indexOf("\r\n\r\n", at);
    if (end === -1) break;
    const [first = "", ...lines] = buffer.toString("latin1", at, end).split("\r\n");
    const status = Number(/^HTTP\/\d(?:\.\d)? (\d{3})(?: |$)/.exec(first)?.[1] ?? Number.NaN);
    if (Number.isNaN(status)) break;
    at = end + 4;
    if (status < 200 && status !== 101) continue;
    return { status, headers: lines.map((line) => headerOf(line, what)), body: bytes.subarray(at) };
  }
  throw new ContentFault(`${what}: the answer is no HTTP response`);
}

function headerOf(line: string, what: string): [string, string] {
  const [, name, value] = /^([^:\s]+):[ \t]*(.*?)[ \t]*$/s.exec(line) ?? [];
  if (name === undefined || value === undefined) throw new ContentFault(`${what}: a header is damaged`);
  return [name.toLowerCase(), value];
}

/** Names in lower case to their values, in order. */
function headerJson(headers: readonly [string, string][]): Json {
  const found = new Map<string, string[]>();
  for (const [name, value] of headers) found.set(name, [...(found.get(name) ?? []), value]);
  return Object.fromEntries(found);
}
