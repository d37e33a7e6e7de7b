import type { ReadChannel } from "../channel.js";
import { readParsedFile } from "../read-file.js";
import type { ImageQuery } from "./query.js";

export const readImage: ReadChannel<ImageQuery> = (query, context) =>
  readParsedFile({ channel: "image", query }, context);
