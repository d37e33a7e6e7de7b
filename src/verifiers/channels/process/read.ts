/** Processes of the machine, listed once for a verdict. */
import { posix } from "node:path";
import type { ProcessInfo } from "../../../sandbox/sandbox.js";
import type { ReadChannel } from "../channel.js";
import type { ProcessQuery } from "./query.js";

/** The kernel keeps this many characters of a process's name. */
const COMM_LENGTH = 15;
/** States of a process that has ended: waiting for its parent, or being removed. */
const ENDED = new Set(["Z", "X"]);

export const readProcess: ReadChannel<ProcessQuery> = async (query, context) => {
  const view = await context.view();
  if (query.kind === "count" && asksForWords(query)) {
    const lines = await view.commandLines();
    return { type: "number", value: lines.filter(({ argv }) => hasWords(argv, query)).length };
  }
  const found = (await view.processes()).filter((one) => matches(one, query)).sort((a, b) => a.pid - b.pid);
  switch (query.kind) {
    case "count":
      return { type: "number", value: found.length };
    case "names":
      return { type: "list", value: found.map((one) => one.name) };
    case "table":
      return {
        type: "table",
        columns: ["pid", "ppid", "uid", "state", "name", "command"],
        rows: found.map((one) => [one.pid, one.ppid, one.uid, one.state, one.name, one.argv.join(" ")]),
      };
  }
};

/** Whether command lines alone decide. What has ended has none, and so no words: `zombies` makes no difference. */
function asksForWords({ name, uid, argv, argv_contains: contains }: ProcessQuery): boolean {
  return name === undefined && uid === undefined && (argv ?? contains) !== undefined;
}

function matches(process: ProcessInfo, query: ProcessQuery): boolean {
  if (!query.zombies && ENDED.has(process.state)) return false;
  if (query.uid !== undefined && process.uid !== query.uid) return false;
  if (query.name !== undefined && !hasName(process, query.name)) return false;
  return hasWords(process.argv, query);
}

function hasWords(argv: readonly string[], query: ProcessQuery): boolean {
  if (query.argv?.every((word, index) => argv[index] === word) === false) return false;
  return query.argv_contains?.every((word) => argv.includes(word)) ?? true;
}

function hasName(process: ProcessInfo, name: string): boolean {
  if (process.name === name || posix.basename(process.argv[0] ?? "") === name) return true;
  return name.length > COMM_LENGTH && process.name === name.slice(0, COMM_LENGTH);
}
