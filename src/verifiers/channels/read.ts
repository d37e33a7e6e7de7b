/** One door to all channels. */
import type { Answer } from "../value.js";
import type { ChannelContext } from "./channel.js";
import { readEpisode } from "./episode.js";
import { readExecJson } from "./exec-json.js";
import { readFs } from "./fs.js";
import { readProcess } from "./process.js";
import type { ChannelQuery } from "./schema.js";
import { readSqlite } from "./sqlite/sqlite.js";

/** Reads a query through its channel. */
export function readChannel(query: ChannelQuery, context: ChannelContext): Promise<Answer> {
  switch (query.channel) {
    case "fs":
      return readFs(query.query, context);
    case "process":
      return readProcess(query.query, context);
    case "sqlite":
      return readSqlite(query.query, context);
    case "exec-json":
      return readExecJson(query.query, context);
    case "episode":
      return readEpisode(query.query, context);
  }
}

/** True for queries that only look: they may run at once and before it is known whether they are needed. */
export function isPure(query: ChannelQuery): boolean {
  return query.channel !== "exec-json";
}

/** True for queries that never touch the machine. */
export function needsMachine(query: ChannelQuery): boolean {
  return query.channel !== "episode";
}
