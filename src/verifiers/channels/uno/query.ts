import { z } from "zod";
import { describe, images } from "../describe.js";

const document = {
  /** Title of the open document, or the path that it was opened from. */
  document: z.string().min(1).max(4_095),
};

/** Documents that are open in LibreOffice, saved or not, by UNO. */
const unoQuery = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("documents") }),
  z.strictObject({ kind: z.literal("info"), ...document }),
  z.strictObject({ kind: z.literal("text"), ...document }),
  z.strictObject({
    kind: z.literal("cells"),
    ...document,
    sheet: z.string().min(1).max(255),
    /** As a spreadsheet writes it, `A1:C9`. */
    range: z
      .string()
      .regex(/^[A-Z]{1,3}[1-9]\d{0,6}(?::[A-Z]{1,3}[1-9]\d{0,6})?$/, "must be a range such as A1:C9"),
  }),
]);

export type UnoQuery = z.output<typeof unoQuery>;

export const unoChannel = describe({
  query: unoQuery,
  results: { documents: "list", info: "json", text: "text", cells: "table" },
  version: 1,
  onlyLooks: false,
  machine: true,
  live: true,
  images: images.desktop,
});
