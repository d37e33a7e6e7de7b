import { z } from "zod";
import { describe, guestPath, maxBytes } from "../describe.js";

const common = { path: guestPath, max_bytes: maxBytes };

/** Which message: its place in the file from 0, or its Message-ID, with or without the angle brackets. */
const one = {
  index: z.int().nonnegative().optional(),
  message_id: z.string().min(1).max(1_000).optional(),
};

/** A mailbox in the mbox format, or a file with one message. */
const mboxQuery = z
  .discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("table"), ...common }),
    z.strictObject({ kind: z.literal("count"), ...common }),
    z.strictObject({ kind: z.literal("message"), ...common, ...one }),
    z.strictObject({ kind: z.literal("text"), ...common, ...one }),
  ])
  .refine(
    (query) =>
      !(
        "index" in query &&
        "message_id" in query &&
        query.index !== undefined &&
        query.message_id !== undefined
      ),
    "index and message_id exclude each other",
  );

export type MboxQuery = z.output<typeof mboxQuery>;

export const mboxChannel = describe({
  query: mboxQuery,
  results: { table: "table", count: "number", message: "json", text: "text" },
  version: 1,
  onlyLooks: true,
  machine: true,
});
