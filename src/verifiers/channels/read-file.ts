/** Reading of channels that are one file in a format: copied out of the fork, parsed in a verifier thread. */
import { parseInPool } from "../pool.js";
import type { Answer } from "../value.js";
import type { ChannelContext } from "./channel.js";
import type { ParsedQuery } from "./parsers.js";

/**
 * Reads the file that a query names and parses it. The bytes come from a hostile machine, so they are never parsed on the main
 * thread, however few. Absent if nothing is there; rejects with `ContentFault` for what is no such file.
 */
export async function readParsedFile(
  query: ParsedQuery & { query: { path: string; max_bytes?: number | undefined } },
  context: ChannelContext,
): Promise<Answer> {
  const { path, max_bytes: limit } = query.query;
  const view = await context.view();
  const bytes = await view.read(path, limit);
  if (bytes === null) return { absent: `there is nothing at ${path}` };
  return parseInPool(bytes, query, path, context.signal);
}
