import type { ReadChannel } from "../channel.js";
import { readParsedFile } from "../read-file.js";
import type { HtmlQuery } from "./query.js";

export const readHtml: ReadChannel<HtmlQuery> = (query, context) =>
  readParsedFile({ channel: "html", query }, context);
