/**
 * A request to a service in the machine, by the image's curl: over the loopback address alone, without a configuration of the agent's,
 * without a proxy, following nothing.
 */
import { DeadlinePassed } from "../../deadline.js";
import { parseInPool } from "../../pool.js";
import { ContentFault } from "../../value.js";
import type { ReadChannel } from "../channel.js";
import { complaint, runGraderCommand } from "../command.js";
import type { HttpQuery } from "./query.js";

const CURL = "/usr/bin/curl";
/** curl's own words for how it ended. */
const NOBODY_LISTENS = 7;
const TIMED_OUT = 28;
/** Bytes of a response's headers, beside those of its body. */
const HEADER_BYTES = 65_536;
/** Guest milliseconds that the program itself may need on top of the request. */
const PROGRAM_MS = 20_000;

export const readHttp: ReadChannel<HttpQuery> = async (query, context) => {
  const view = await context.view();
  const place = `${query.method} ${urlOf(query)}`;
  const result = await runGraderCommand(view, {
    argv: commandLine(query),
    stdin: query.body ?? "",
    timeoutMs: query.timeout_ms + PROGRAM_MS,
    maxOutputBytes: query.max_bytes + HEADER_BYTES,
  });
  if (result.exitCode === NOBODY_LISTENS) return { absent: `${place}: nobody listens there` };
  if (result.exitCode === TIMED_OUT)
    throw new DeadlinePassed(`${place}: no answer in ${query.timeout_ms} ms of guest time`);
  if (result.exitCode !== 0) throw new ContentFault(`${place}: ${complaint(result)}`);
  return parseInPool(result.stdout, { channel: "http", query }, place, context.signal);
};

function urlOf({ address, port, path }: HttpQuery): string {
  return `http://${address === "::1" ? "[::1]" : address}:${port}${path}`;
}

function commandLine(query: HttpQuery): string[] {
  const headers = new Map(Object.entries(query.headers));
  const named = new Set([...headers.keys()].map((name) => name.toLowerCase()));
  const own = ["User-Agent: shinken", "Accept: */*", "Expect:", "Content-Type:"].filter(
    (line) => !named.has((line.split(":")[0] ?? "").toLowerCase()),
  );
  const lines = [...own, ...[...headers].map(([name, value]) => `${name}: ${value}`)];
  return [
    CURL,
    // First of all: no file of settings is read.
    "-q",
    "--silent",
    "--show-error",
    "--include",
    "--http1.1",
    "--globoff",
    "--path-as-is",
    "--noproxy",
    "*",
    "--max-time",
    String(query.timeout_ms / 1000),
    "--max-filesize",
    String(query.max_bytes),
    ...(query.method === "HEAD" ? ["--head"] : []),
    ...(query.method === "POST" ? ["--data-binary", "@-"] : []),
    ...lines.flatMap((line) => ["--header", line]),
    urlOf(query),
  ];
}
