import { z } from "zod";
import { describe, guestPath, maxBytes } from "../describe.js";

/** What an audio or video file says of itself. */
const mediaQuery = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("info"), path: guestPath, max_bytes: maxBytes }),
]);

export type MediaQuery = z.output<typeof mediaQuery>;

export const mediaChannel = describe({
  query: mediaQuery,
  results: { info: "json" },
  version: 1,
  onlyLooks: true,
  machine: true,
});
