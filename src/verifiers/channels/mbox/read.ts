import type { ReadChannel } from "../channel.js";
import { readParsedFile } from "../read-file.js";
import type { MboxQuery } from "./query.js";

export const readMbox: ReadChannel<MboxQuery> = (query, context) =>
  readParsedFile({ channel: "mbox", query }, context);
