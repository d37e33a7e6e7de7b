import { z } from "zod";
import { describe, images } from "../describe.js";

/** Which element of an application's accessibility tree: by role and name, and below others. */
const element = {
  application: z.string().min(1).max(255),
  role: z.string().min(1).max(100).optional(),
  name: z.string().max(10_000).optional(),
  /** Elements that it lies in, from the outside to the inside. */
  within: z
    .array(
      z.strictObject({
        role: z.string().min(1).max(100).optional(),
        name: z.string().max(10_000).optional(),
      }),
    )
    .max(64)
    .default([]),
};

/** What applications tell assistive technology (AT-SPI). */
const a11yQuery = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("applications") }),
  z.strictObject({
    kind: z.literal("tree"),
    application: z.string().min(1).max(255),
    depth: z.int().min(1).max(64).default(32),
  }),
  z.strictObject({ kind: z.literal("text"), ...element }),
  z.strictObject({ kind: z.literal("number"), ...element }),
  z.strictObject({ kind: z.literal("states"), ...element }),
  z.strictObject({ kind: z.literal("count"), ...element }),
]);

export type A11yQuery = z.output<typeof a11yQuery>;

export const a11yChannel = describe({
  query: a11yQuery,
  results: {
    applications: "list",
    tree: "json",
    text: "text",
    number: "number",
    states: "list",
    count: "number",
  },
  version: 1,
  onlyLooks: false,
  machine: true,
  live: true,
  images: images.desktop,
});
