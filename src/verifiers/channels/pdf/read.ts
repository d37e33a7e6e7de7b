/** PDF documents of the machine. */
import type { ReadChannel } from "../channel.js";
import { readParsedFile } from "../read-file.js";
import type { PdfQuery } from "./query.js";

export const readPdf: ReadChannel<PdfQuery> = (query, context) =>
  readParsedFile({ channel: "pdf", query }, context);
