import { z } from "zod";
import type { ActionResult } from "../environment.js";
import { maxCharsField, pathField, resolvePath } from "./fields.js";
import { aciLimits } from "./limits.js";
import { readLines } from "./lines.js";
import { orGuestError, refusal } from "./results.js";
import { cutMiddle, showBytes } from "./text.js";
import { type ActionContext, defineAction } from "./types.js";

const schema = z
  .strictObject({
    type: z.literal("read_file"),
    path: pathField,
    lines: z
      .tuple([z.int().min(1), z.int().min(-1)])
      .optional()
      .describe("First and last line, counted from 1; -1 as last: to the end."),
    offset: z.int().min(0).optional().describe("First byte."),
    limit: z.int().min(1).max(aciLimits.maxChars).optional().describe("Bytes at most."),
    max_chars: maxCharsField,
  })
  .refine(
    (action) => action.lines === undefined || (action.offset === undefined && action.limit === undefined),
    {
      error: "lines cannot be combined with offset and limit",
      path: ["lines"],
    },
  )
  .refine(
    (action) => action.lines === undefined || action.lines[1] === -1 || action.lines[1] >= action.lines[0],
    {
      error: "the last line comes before the first",
      path: ["lines"],
    },
  );

type ReadFile = z.output<typeof schema>;

/** `read_file`: a file's text, whole or in part. */
export const readFile = defineAction({
  type: "read_file",
  capability: "files",
  description: "Read a text file: the whole, a range of lines, or a range of bytes.",
  schema,
  run: (action, context) => orGuestError("read_file", () => read(action, context)),
});

async function read(action: ReadFile, context: ActionContext): Promise<ActionResult> {
  const path = resolvePath(action.path, context);
  const maxChars = action.max_chars ?? aciLimits.defaultChars;
  if (action.lines !== undefined) {
    const [first, last] = action.lines;
    const found = await readLines(context.sandbox, path, context.user, first, last);
    if (found.status === "too_far") {
      return refusal(
        "read_file",
        "too_large",
        `line ${first} lies beyond the first ${aciLimits.scanBytes} bytes of ${path}; use offset`,
      );
    }
    if (found.status === "past_end") {
      return refusal(
        "read_file",
        "out_of_range",
        `${path} has only ${found.lines} line${found.lines === 1 ? "" : "s"}`,
      );
    }
    return shown(found.bytes, maxChars, found.complete);
  }
  // One byte more than is shown tells a cut from an end.
  const wanted = action.limit ?? aciLimits.editBytes;
  const bytes = await context.sandbox.readFile(path, {
    offset: action.offset,
    limit: wanted + 1,
    user: context.user,
  });
  return shown(bytes.subarray(0, wanted), maxChars, bytes.length <= wanted || action.limit !== undefined);
}

function shown(bytes: Uint8Array, maxChars: number, complete: boolean): ActionResult {
  const decoded = showBytes(bytes);
  const cut = cutMiddle(decoded.text, maxChars);
  const text = complete
    ? cut.text
    : `${cut.text}\n[... the file goes on; read further with offset or lines ...]`;
  return {
    type: "read_file",
    text,
    truncated: cut.truncated || !complete,
    bytes: bytes.length,
    escaped: decoded.escaped,
  };
}
