import { z } from "zod";
import { describe, guestPath, maxBytes } from "../describe.js";

const common = { path: guestPath, max_bytes: maxBytes };

/** A picture: PNG, JPEG, GIF (its first frame), BMP or WebP, told by its first bytes. */
const imageQuery = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("info"), ...common }),
  z.strictObject({ kind: z.literal("image"), ...common }),
  z.strictObject({
    kind: z.literal("region"),
    ...common,
    /** Pixels from the left and from the top. */
    x: z.int().nonnegative(),
    y: z.int().nonnegative(),
    width: z.int().positive(),
    height: z.int().positive(),
  }),
  z.strictObject({ kind: z.literal("hash"), ...common }),
]);

export type ImageQuery = z.output<typeof imageQuery>;

export const imageChannel = describe({
  query: imageQuery,
  results: { info: "json", image: "image", region: "json", hash: "text" },
  version: 1,
  onlyLooks: true,
  machine: true,
});
