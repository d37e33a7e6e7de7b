import type { ReadChannel } from "../channel.js";
import { readParsedFile } from "../read-file.js";
import type { MediaQuery } from "./query.js";

export const readMedia: ReadChannel<MediaQuery> = (query, context) =>
  readParsedFile({ channel: "media", query }, context);
