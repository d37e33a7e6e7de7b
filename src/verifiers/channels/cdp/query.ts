import { z } from "zod";
import { describe, images } from "../describe.js";
import { selector } from "../selector.js";

const page = {
  port: z.int().min(1).max(65_535).default(9_222),
  /** Of the one page whose address begins so; the page in front if unsaid. */
  url_prefix: z.string().min(1).max(8_000).optional(),
};

/** A browser's pages by the Chrome DevTools Protocol. There is no way to run a script of an author's. */
const cdpQuery = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("pages"), port: page.port }),
  z.strictObject({ kind: z.literal("url"), ...page }),
  z.strictObject({ kind: z.literal("title"), ...page }),
  z.strictObject({ kind: z.literal("texts"), ...page, selector }),
  z.strictObject({ kind: z.literal("values"), ...page, selector }),
  z.strictObject({ kind: z.literal("count"), ...page, selector }),
  z.strictObject({ kind: z.literal("cookies"), ...page }),
  z.strictObject({
    kind: z.literal("storage"),
    ...page,
    area: z.enum(["local", "session"]).default("local"),
  }),
]);

export type CdpQuery = z.output<typeof cdpQuery>;

export const cdpChannel = describe({
  query: cdpQuery,
  results: {
    pages: "list",
    url: "text",
    title: "text",
    texts: "list",
    values: "list",
    count: "number",
    cookies: "json",
    storage: "json",
  },
  version: 1,
  onlyLooks: false,
  machine: true,
  live: true,
  images: images.desktop,
});
