import { z } from "zod";
import { contentField, pathField, resolvePath } from "./fields.js";
import { orGuestError, refusal } from "./results.js";
import { defineAction } from "./types.js";

const schema = z.strictObject({
  type: z.literal("write_file"),
  path: pathField,
  content: contentField.describe("The whole content."),
  encoding: z
    .enum(["utf-8", "base64"])
    .optional()
    .describe("How `content` is written here; utf-8 if unsaid."),
  append: z.boolean().optional().describe("Add to the end instead of replacing the file."),
  mode: z
    .string()
    .regex(/^0?[0-7]{3}$/, "three octal digits, e.g. 755")
    .optional()
    .describe("Permissions in octal, e.g. 755."),
});

/** `write_file`: makes or replaces a file, with the folders on the way to it. */
export const writeFile = defineAction({
  type: "write_file",
  capability: "files",
  description: "Create or replace a file. Missing folders are made.",
  schema,
  run: (action, context) =>
    orGuestError("write_file", async () => {
      const path = resolvePath(action.path, context);
      if (action.encoding === "base64" && !isBase64(action.content)) {
        return refusal("write_file", "out_of_range", "content is not valid base64");
      }
      const data = Buffer.from(action.content, action.encoding === "base64" ? "base64" : "utf8");
      await context.sandbox.writeFile(path, data, {
        user: context.user,
        append: action.append,
        mode: action.mode === undefined ? undefined : Number.parseInt(action.mode, 8),
      });
      const verb = action.append === true ? "Appended" : "Wrote";
      return { type: "write_file", text: `${verb} ${data.length} bytes to ${path}.`, truncated: false, path };
    }),
});

/** Buffer.from skips what is no base64 without a word, so it is checked before. */
function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}
