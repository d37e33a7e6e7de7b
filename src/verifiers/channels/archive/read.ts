/** Archives of the machine. */
import type { ReadChannel } from "../channel.js";
import { readParsedFile } from "../read-file.js";
import type { ArchiveQuery } from "./query.js";

export const readArchive: ReadChannel<ArchiveQuery> = (query, context) =>
  readParsedFile({ channel: "archive", query }, context);
