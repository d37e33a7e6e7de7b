import { z } from "zod";
import type { ExecResult } from "../../sandbox/sandbox.js";
import type { ActionResult } from "../environment.js";
import {
  argumentField,
  commandField,
  contentField,
  maxCharsField,
  pathField,
  resolvePath,
  timeoutField,
  wordField,
  timeoutMs,
} from "./fields.js";
import { aciLimits } from "./limits.js";
import { orGuestError } from "./results.js";
import { cutMiddle, showStream } from "./text.js";
import { defineAction } from "./types.js";

const schema = z
  .strictObject({
    type: z.literal("exec"),
    argv: z
      .array(wordField)
      .min(1)
      .max(aciLimits.arguments)
      .optional()
      .describe("Program and arguments, run as they are."),
    command: commandField.optional().describe("A line for `sh -c`. Give either argv or command."),
    cwd: pathField.optional(),
    env: z
      .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), argumentField)
      .refine((env) => Object.keys(env).length <= aciLimits.environmentEntries, "too many variables")
      .optional()
      .describe("Variables added to the environment."),
    stdin: contentField.optional().describe("Text for standard input; empty if unsaid."),
    timeout_s: timeoutField,
    max_chars: maxCharsField,
  })
  .refine((action) => (action.argv === undefined) !== (action.command === undefined), {
    error: "give either argv or command",
    path: ["command"],
  });

/** `exec`: one program, from its own start to its end; nothing is kept for the next one but what it left on disk. */
export const exec = defineAction({
  type: "exec",
  capability: "exec",
  description:
    "Run a program and return its output and exit code. Each call starts anew in the same folder; use `shell` to keep a folder and variables.",
  schema,
  run: (action, context) =>
    orGuestError("exec", async () => {
      const result = await context.sandbox.exec({
        argv: action.argv ?? ["sh", "-c", action.command ?? ""],
        cwd: action.cwd === undefined ? context.cwd : resolvePath(action.cwd, context),
        env: action.env,
        user: context.user,
        stdin: action.stdin,
        timeoutMs: timeoutMs(action.timeout_s, context),
        maxOutputBytes: aciLimits.outputBytes,
      });
      return execResult("exec", result, action.max_chars ?? aciLimits.defaultChars);
    }),
});

/** The observation of a finished command. */
export function execResult(type: string, result: ExecResult, maxChars: number): ActionResult {
  const stdout = showStream(result.stdout, result.stdoutDropped, maxChars);
  const stderr = showStream(result.stderr, result.stderrDropped, maxChars);
  const parts: string[] = [];
  if (stdout.text !== "") parts.push(stdout.text);
  if (stderr.text !== "") parts.push(`[stderr]\n${stderr.text}`);
  const ending = describeEnding(result);
  if (ending !== null) parts.push(ending);
  const text = cutMiddle(parts.map((part) => part.replace(/\n$/, "")).join("\n"), maxChars);
  return {
    type,
    text: text.text,
    truncated: stdout.truncated || stderr.truncated || text.truncated,
    exit_code: result.exitCode,
    signal: result.signal,
    timed_out: result.timedOut,
    oom_killed: result.oomKilled,
    stdout: stdout.text,
    stderr: stderr.text,
  };
}

/** What a model must know beyond the output; null after an ordinary success. */
export function describeEnding(
  result: Pick<ExecResult, "exitCode" | "signal" | "timedOut" | "oomKilled">,
): string | null {
  if (result.timedOut) return "[the time limit was reached; the command was killed]";
  const memory = result.oomKilled ? "; the machine ran out of memory" : "";
  if (result.exitCode === null) return `[ended by signal ${result.signal ?? "?"}${memory}]`;
  if (result.exitCode !== 0 || result.oomKilled) return `[exit code ${result.exitCode}${memory}]`;
  return null;
}
