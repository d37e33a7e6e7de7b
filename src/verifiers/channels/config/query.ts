import { z } from "zod";
import { describe, guestPath, maxBytes } from "../describe.js";

/** A JSON Pointer (RFC 6901) to a part of the document. */
const at = z
  .string()
  .max(10_000)
  .regex(/^(\/([^~/]|~[01])*)*$/u, "must be a JSON Pointer: /key/0, with ~1 for / and ~0 for ~");

const file = { path: guestPath, max_bytes: maxBytes };
const whole = { ...file, at: at.default("") };

/** Formats that need no further word. */
export const configFormats = ["ini", "json", "jsonc", "yaml", "toml", "plist", "registry"] as const;
const scalar = { ...file, format: z.enum(configFormats), at };

/** Configuration files. */
const configQuery = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("ini"),
    ...whole,
    /** Keys may stand several times in a section: every value is then a list. */
    repeated: z.boolean().default(false),
  }),
  z.strictObject({ kind: z.literal("json"), ...whole }),
  z.strictObject({ kind: z.literal("jsonc"), ...whole }),
  z.strictObject({ kind: z.literal("yaml"), ...whole }),
  z.strictObject({ kind: z.literal("toml"), ...whole }),
  z.strictObject({ kind: z.literal("plist"), ...whole }),
  z.strictObject({ kind: z.literal("registry"), ...whole }),
  z.strictObject({ kind: z.literal("text"), ...scalar }),
  z.strictObject({ kind: z.literal("number"), ...scalar }),
]);

export type ConfigQuery = z.output<typeof configQuery>;
export type ConfigFormat = (typeof configFormats)[number];

export const configChannel = describe({
  query: configQuery,
  results: {
    ini: "json",
    json: "json",
    jsonc: "json",
    yaml: "json",
    toml: "json",
    plist: "json",
    registry: "json",
    text: "text",
    number: "number",
  },
  version: 1,
  onlyLooks: true,
  machine: true,
});
