import { z } from "zod";
import { describe, guestPath, maxBytes } from "../describe.js";
import { selector, selectorKinds, selectorResults } from "../selector.js";

/** An HTML file, as a browser without scripts would read it. */
const htmlQuery = z.discriminatedUnion("kind", [
  ...selectorKinds("collapse"),
  z.strictObject({
    kind: z.literal("table"),
    path: guestPath,
    max_bytes: maxBytes,
    /** Of the one table. */
    selector: selector.default("table"),
    /** The first row names the columns. */
    header: z.boolean().default(true),
    /** Columns, by name or number, whose cells are numbers; a cell that is none makes the check ungraded. */
    numeric: z.array(z.union([z.string(), z.int().nonnegative()])).default([]),
  }),
]);

export type HtmlQuery = z.output<typeof htmlQuery>;

export const htmlChannel = describe({
  query: htmlQuery,
  results: { ...selectorResults, table: "table" },
  version: 1,
  onlyLooks: true,
  machine: true,
});
