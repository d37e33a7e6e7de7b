/** The commits behind one, as git's log orders them. */
import { ContentFault } from "../../value.js";
import { type Commit, readCommit } from "./contents.js";
import type { ObjectStore } from "./objects.js";
import { LOG_LIMIT } from "./query.js";
import type { Refs } from "./refs.js";

/** The newest first, by the committer's clock; no parent before it was found by a child. */
export function readLog(
  start: string,
  options: { count?: number | undefined; first_parent: boolean },
  store: ObjectStore,
  refs: Refs,
  what: string,
): Commit[] {
  const load = (hash: string): Commit => {
    const commit = readCommit(store, hash, what);
    return refs.shallow.has(hash) ? { ...commit, parents: [] } : commit;
  };
  const waiting: Commit[] = [load(start)];
  const met = new Set([start]);
  const log: Commit[] = [];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    log.push(next);
    if (log.length === options.count) break;
    if (log.length > LOG_LIMIT) throw new ContentFault(`${what}: more than ${LOG_LIMIT} commits`);
    const parents = options.first_parent ? next.parents.slice(0, 1) : next.parents;
    for (const hash of parents) {
      if (met.has(hash)) continue;
      met.add(hash);
      const parent = load(hash);
      const place = waiting.findIndex(({ committer }) => committer.time < parent.committer.time);
      waiting.splice(place === -1 ? waiting.length : place, 0, parent);
    }
  }
  return log;
}
