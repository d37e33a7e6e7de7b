/** Paths that a list can never hold: some queries name what is below a root, others whole paths. */
import type { ChannelQuery } from "../channels/schema.js";
import { referenceOf } from "../expected.js";
import type { CheckNode } from "../schema.js";
import { fault, type Path } from "./fault.js";

type Kind = "below" | "whole";

/** Queries whose items are paths, by channel and kind. */
const listings: Readonly<Record<string, Kind>> = {
  "fs/tree": "below",
  "fs/glob": "whole",
  "git/tree": "below",
  "git/diff": "below",
  "archive/entries": "below",
};

const kindOf = ({ channel, query }: ChannelQuery): Kind | undefined => listings[`${channel}/${query.kind}`];

const words: Readonly<Record<Kind, { holds: string; write: string }>> = {
  below: {
    holds: "holds paths below its root",
    write:
      'write the path below the root, a folder with a slash at its end; only "glob" gives absolute paths',
  },
  whole: { holds: "gives absolute paths", write: "write the whole path" },
};

/** Whether a path could stand in such a list. */
function fits(item: string, kind: Kind): boolean {
  return kind === "whole" ? item.startsWith("/") : !/^\.{0,2}\//.test(item);
}

/** Refuses expected items that are never in the list that a check reads. Throws `bad_task`. */
export function proveListedPaths(check: CheckNode, path: Path): void {
  const { assert } = check;
  const query = { channel: check.channel, query: check.query } as ChannelQuery;
  const kind = kindOf(query);
  if (kind === undefined || (assert.type !== "list" && assert.type !== "set")) return;
  // The one normaliser that takes slashes away.
  if (assert.normalise.includes("strip_punctuation")) return;
  const what = `a ${check.channel} ${check.query.kind} ${words[kind].holds}`;
  for (const key of ["equals", "contains", "excludes"] as const) {
    const items = assert[key];
    const reference = referenceOf(items);
    if (reference !== undefined && "from" in reference) {
      const other = kindOf(reference.from);
      if (other === undefined || other === kind) continue;
      const from = `a ${reference.from.channel} ${reference.from.query.kind} ${words[other].holds}`;
      throw fault([...path, "assert", key, "from"], `${what}, but ${from}: they never agree`);
    }
    if (!Array.isArray(items)) continue;
    const index = items.findIndex((item) => typeof item === "string" && !fits(item, kind));
    if (index === -1) continue;
    throw fault(
      [...path, "assert", key, index],
      `${what}, never one such as ${JSON.stringify(items[index])}`,
      words[kind].write,
    );
  }
}

/** Refuses an absolute name of a file within a commit or an archive: no such file has one. Throws `bad_task`. */
export function proveInnerPath({ channel, query }: ChannelQuery, path: Path): void {
  for (const [key, name] of Object.entries(query) as [string, unknown][]) {
    const inner = (channel === "git" && key === "file") || (channel === "archive" && key === "entry");
    if (!inner || typeof name !== "string" || !name.startsWith("/")) continue;
    throw fault(
      [...path, "query", key],
      `${JSON.stringify(name)} is never the name of a file within`,
      "write the path below the root",
    );
  }
}
