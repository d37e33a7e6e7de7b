/** Office files of the machine. */
import type { ReadChannel } from "../channel.js";
import { readParsedFile } from "../read-file.js";
import type { OfficeQuery } from "./query.js";

export const readOffice: ReadChannel<OfficeQuery> = (query, context) =>
  readParsedFile({ channel: "office", query }, context);
