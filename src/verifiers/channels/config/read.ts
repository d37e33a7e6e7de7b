/** Configuration files of the machine. */
import type { ReadChannel } from "../channel.js";
import { readParsedFile } from "../read-file.js";
import type { ConfigQuery } from "./query.js";

export const readConfig: ReadChannel<ConfigQuery> = (query, context) =>
  readParsedFile({ channel: "config", query }, context);
