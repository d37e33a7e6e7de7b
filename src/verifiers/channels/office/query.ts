import { z } from "zod";
import { describe, guestPath, maxBytes } from "../describe.js";

const file = { path: guestPath, max_bytes: maxBytes };

/** A sheet by its name, or by its place counted from 1. */
const sheet = z.union([z.string().min(1).max(255), z.int().positive()]).default(1);
const cellName = z.string().regex(/^[A-Z]{1,3}[1-9]\d{0,6}$/, "must be a cell: B2");
const one = { ...file, sheet, cell: cellName };

/** Workbooks (xlsx, ods). */
const workbookQueries = [
  z.strictObject({ kind: z.literal("workbook"), ...file }),
  z.strictObject({ kind: z.literal("sheets"), ...file }),
  z.strictObject({ kind: z.literal("sheet"), ...file, sheet }),
  z.strictObject({ kind: z.literal("cell"), ...one }),
  z.strictObject({ kind: z.literal("cell_text"), ...one }),
  z.strictObject({ kind: z.literal("cell_number"), ...one }),
  z.strictObject({ kind: z.literal("formula"), ...one }),
  z.strictObject({ kind: z.literal("style"), ...one }),
  z.strictObject({
    kind: z.literal("range"),
    ...file,
    sheet,
    /** All that is used unless said. */
    range: z
      .string()
      .regex(/^[A-Z]{1,3}[1-9]\d{0,6}:[A-Z]{1,3}[1-9]\d{0,6}$/, "must be a range: A1:C9")
      .optional(),
    /** The first row names the columns; else they are called by their letters. */
    header: z.boolean().default(false),
  }),
] as const;

/** Documents (docx, odt) and presentations (pptx). `text` and `properties` are of any of the three. */
const textQueries = [
  z.strictObject({ kind: z.literal("text"), ...file }),
  z.strictObject({ kind: z.literal("properties"), ...file }),
  z.strictObject({ kind: z.literal("paragraphs"), ...file }),
  z.strictObject({ kind: z.literal("document"), ...file }),
  z.strictObject({
    kind: z.literal("table"),
    ...file,
    /** Which table, counted from 1. */
    table: z.int().positive().default(1),
    header: z.boolean().default(false),
  }),
  z.strictObject({ kind: z.literal("slides"), ...file }),
  z.strictObject({
    kind: z.literal("slide"),
    ...file,
    /** Counted from 1. */
    slide: z.int().positive(),
  }),
] as const;

/** Files of Office Open XML and of OpenDocument. */
const officeQuery = z.discriminatedUnion("kind", [...workbookQueries, ...textQueries]);

export type OfficeQuery = z.output<typeof officeQuery>;
export type WorkbookQuery = z.output<(typeof workbookQueries)[number]>;

export const officeChannel = describe({
  query: officeQuery,
  results: {
    workbook: "json",
    sheets: "list",
    sheet: "json",
    cell: "json",
    cell_text: "text",
    cell_number: "number",
    formula: "text",
    style: "json",
    range: "table",
    text: "text",
    properties: "json",
    paragraphs: "list",
    document: "json",
    table: "table",
    slides: "list",
    slide: "json",
  },
  version: 2,
  onlyLooks: true,
  machine: true,
});
