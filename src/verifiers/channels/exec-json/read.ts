/**
 * A command in the grading fork that prints one JSON value. It runs as root with an environment of its own; that its
 * program comes from the read-only image, whatever the agent did to the machine, is the grading fork's doing.
 */
import { posix } from "node:path";
import { parseJson } from "../../parse/json.js";
import { decodeText } from "../../parse/text.js";
import { ContentFault } from "../../value.js";
import type { ReadChannel } from "../channel.js";
import { failureOf, runGraderCommand } from "../command.js";
import type { ExecJsonQuery } from "./query.js";

export const readExecJson: ReadChannel<ExecJsonQuery> = async (query, context) => {
  const view = await context.view();
  const argv: string[] = [];
  const folders = new Set<string>();
  for (const word of query.argv) {
    if (typeof word === "string") {
      argv.push(word);
      continue;
    }
    const path = await context.placeAsset(word.asset);
    folders.add(posix.dirname(path));
    argv.push(path);
  }
  const result = await runGraderCommand(view, {
    argv,
    cwd: query.cwd,
    stdin: query.stdin,
    timeoutMs: query.timeout_ms,
    maxOutputBytes: query.max_bytes,
    // Python looks for modules nowhere that the agent could write; assets may import each other.
    ...(folders.size === 0 ? {} : { env: { PYTHONPATH: [...folders].join(":") } }),
  });
  if (result.exitCode !== 0) throw new ContentFault(failureOf(result));
  return { type: "json", value: parseJson(decodeText(result.stdout, "the output"), "the output") };
};
