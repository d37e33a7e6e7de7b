import type { ReadChannel } from "../channel.js";
import { readParsedFile } from "../read-file.js";
import type { XmlQuery } from "./query.js";

export const readXml: ReadChannel<XmlQuery> = (query, context) =>
  readParsedFile({ channel: "xml", query }, context);
