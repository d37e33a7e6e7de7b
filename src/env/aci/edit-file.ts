import { z } from "zod";
import type { ActionResult } from "../environment.js";
import { contentField, pathField, resolvePath } from "./fields.js";
import { aciLimits } from "./limits.js";
import { orGuestError, refusal } from "./results.js";
import { cutMiddle, showBytes } from "./text.js";
import { type ActionContext, defineAction } from "./types.js";

const schema = z
  .strictObject({
    type: z.literal("edit_file"),
    path: pathField,
    old_text: contentField
      .min(1)
      .describe("Text to replace, exactly as it stands in the file, blanks included."),
    new_text: contentField.describe("Text to put in its place."),
    replace_all: z.boolean().optional().describe("Replace every occurrence; else there must be exactly one."),
  })
  .refine((action) => action.old_text !== action.new_text, {
    error: "new_text equals old_text",
    path: ["new_text"],
  });

type EditFile = z.output<typeof schema>;

const contextLines = 3;
const snippetChars = 2_000;

/** `edit_file`: replaces an exact piece of a file; a piece that is absent or not unique changes nothing. */
export const editFile = defineAction({
  type: "edit_file",
  capability: "files",
  description:
    "Replace an exact piece of text in a file. The piece must occur exactly once, unless replace_all is set; add surrounding lines to make it unique.",
  schema,
  run: (action, context) => orGuestError("edit_file", () => edit(action, context)),
});

async function edit(action: EditFile, context: ActionContext): Promise<ActionResult> {
  const path = resolvePath(action.path, context);
  const bytes = await context.sandbox.readFile(path, { limit: aciLimits.editBytes + 1, user: context.user });
  if (bytes.length > aciLimits.editBytes) {
    return refusal("edit_file", "too_large", `${path} is larger than ${aciLimits.editBytes} bytes`);
  }
  // latin1 maps bytes to characters one to one: text of any encoding around the piece stays as it is.
  const before = Buffer.from(bytes).toString("latin1");
  const oldText = Buffer.from(action.old_text).toString("latin1");
  const newText = Buffer.from(action.new_text).toString("latin1");
  const places = occurrences(before, oldText);
  const [first] = places;
  if (first === undefined)
    return refusal("edit_file", "no_match", `old_text does not occur in ${path}; nothing was changed`);
  if (places.length > 1 && action.replace_all !== true) {
    const lines = places.slice(0, 10).map((place) => lineOf(before, place));
    return refusal(
      "edit_file",
      "ambiguous_match",
      `old_text occurs ${places.length} times in ${path} (lines ${lines.join(", ")}${places.length > 10 ? ", ..." : ""}); nothing was changed`,
    );
  }
  const after = before.split(oldText).join(newText);
  if (after.length > aciLimits.editBytes) {
    return refusal("edit_file", "too_large", `${path} would become larger than ${aciLimits.editBytes} bytes`);
  }
  const stat = await context.sandbox.stat(path);
  await context.sandbox.writeFile(path, Buffer.from(after, "latin1"), {
    user: context.user,
    mode: stat.type === "file" ? stat.mode & 0o7777 : undefined,
    parents: false,
  });
  const count = places.length === 1 ? "1 occurrence" : `${places.length} occurrences`;
  const snippet = showBytes(Buffer.from(around(after, first, newText.length), "latin1")).text;
  return {
    type: "edit_file",
    text: `Replaced ${count} in ${path}, at line ${lineOf(before, first)}:\n${cutMiddle(snippet, snippetChars).text}`,
    truncated: false,
    path,
    replacements: places.length,
  };
}

/** Starts of the places that do not overlap, as `split` finds them. */
function occurrences(text: string, piece: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(piece); at !== -1; at = text.indexOf(piece, at + piece.length)) places.push(at);
  return places;
}

function lineOf(text: string, index: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < index; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}

/** Whole lines around a changed piece. */
function around(text: string, start: number, length: number): string {
  let from = start;
  for (let lines = 0; lines <= contextLines && from > 0; lines += 1) from = text.lastIndexOf("\n", from - 1);
  let to = start + length;
  for (let lines = 0; lines <= contextLines && to !== -1; lines += 1) to = text.indexOf("\n", to + 1);
  return text.slice(from <= 0 ? 0 : from + 1, to === -1 ? text.length : to);
}
