import { z } from "zod";
import { describe, guestPath, maxBytes } from "../describe.js";

const file = { path: guestPath, max_bytes: maxBytes };
/** Counted from 1; unsaid: all pages. */
const page = z.int().positive().optional();

/** PDF documents. */
const pdfQuery = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("text"), ...file, page }),
  z.strictObject({ kind: z.literal("lines"), ...file, page }),
  z.strictObject({ kind: z.literal("pages"), ...file }),
  z.strictObject({ kind: z.literal("info"), ...file }),
  z.strictObject({ kind: z.literal("fields"), ...file }),
]);

export type PdfQuery = z.output<typeof pdfQuery>;

export const pdfChannel = describe({
  query: pdfQuery,
  results: { text: "text", lines: "list", pages: "number", info: "json", fields: "json" },
  version: 1,
  onlyLooks: true,
  machine: true,
});
