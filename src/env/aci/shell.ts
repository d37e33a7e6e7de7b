import { z } from "zod";
import type { ExecResult, Sandbox } from "../../sandbox/sandbox.js";
import type { ActionResult } from "../environment.js";
import { describeEnding } from "./exec.js";
import { commandField, maxCharsField, timeoutField, timeoutMs } from "./fields.js";
import { aciLimits } from "./limits.js";
import { orGuestError } from "./results.js";
import { shellProgram } from "./shell-program.js";
import { cutMiddle, joinEnds, showBytes } from "./text.js";
import { type ActionContext, defineAction } from "./types.js";

const schema = z
  .strictObject({
    type: z.literal("shell"),
    command: commandField.optional().describe("What to run in bash."),
    restart: z.literal(true).optional().describe("Forget folder, variables and functions, and begin anew."),
    timeout_s: timeoutField,
    max_chars: maxCharsField,
  })
  .refine((action) => action.command !== undefined || action.restart !== undefined, {
    error: "give a command, or restart",
    path: ["command"],
  });

type Shell = z.output<typeof schema>;

/**
 * `shell`: bash that keeps its folder, variables, functions, aliases and options from call to call. Each call is a
 * process of its own, and what is kept lies in a file of the guest: so a hang or an `exit` costs nothing but that
 * call, a branch of the machine carries the shell with it, and there is no open stream that would tie guest time to
 * host time. Background jobs go on; job numbers (`%1`) and traps are not kept.
 */
export const shell = defineAction({
  type: "shell",
  capability: "shell",
  description:
    "Run a command in a bash session that keeps its folder, variables and functions. There is no terminal and no standard input. Start long jobs with & and look at them later.",
  schema,
  run: (action, context) => orGuestError("shell", () => run(action, context)),
});

async function run(action: Shell, context: ActionContext): Promise<ActionResult> {
  const folder = `/tmp/.shinken-shell-${context.user}`;
  if (action.restart === true) {
    await context.sandbox.exec({ argv: ["rm", "-rf", "--", folder], user: context.user, timeoutMs: 60_000 });
    if (action.command === undefined) {
      return { type: "shell", text: "The shell was restarted.", truncated: false };
    }
  }
  const result = await context.sandbox.exec({
    argv: ["bash", "--noprofile", "--norc", "-c", shellProgram, "bash", folder, action.command ?? ""],
    cwd: context.cwd,
    user: context.user,
    timeoutMs: timeoutMs(action.timeout_s, context),
    maxOutputBytes: aciLimits.defaultChars,
  });
  const maxChars = action.max_chars ?? aciLimits.defaultChars;
  const output = await takeOutput(context.sandbox, `${folder}/output`, context.user, maxChars);
  // What bash says before its output is redirected: that it cannot write its folder, or nothing.
  const early = showBytes(result.stderr).text;
  const parts = [early, output.text].filter((part) => part !== "").map((part) => part.replace(/\n$/, ""));
  const ending = describeShellEnding(result);
  if (ending !== null) parts.push(ending);
  return {
    type: "shell",
    text: parts.join("\n"),
    truncated: output.truncated,
    exit_code: result.exitCode,
    signal: result.signal,
    timed_out: result.timedOut,
    oom_killed: result.oomKilled,
  };
}

function describeShellEnding(result: ExecResult): string | null {
  if (!result.timedOut) return describeEnding(result);
  return "[the time limit was reached; the command was killed, folder and variables are as before it]";
}

/**
 * Output goes to a file and not to a pipe, since a background job that inherited a pipe would hold the call open.
 * Both ends of a long output are read; then the file is emptied, so that what a job writes later shows next time.
 */
async function takeOutput(
  sandbox: Sandbox,
  path: string,
  user: string,
  maxChars: number,
): Promise<{ text: string; truncated: boolean }> {
  const stat = await sandbox.statIfExists(path);
  if (stat === null || stat.type !== "file" || stat.size === 0) return { text: "", truncated: false };
  // A character takes at most 4 bytes, so each half holds enough to fill what is shown.
  const half = maxChars * 4;
  let shown: { text: string; truncated: boolean };
  if (stat.size <= half * 2) {
    shown = cutMiddle(showBytes(await sandbox.readFile(path, { limit: half * 2, user })).text, maxChars);
  } else {
    const head = showBytes(await sandbox.readFile(path, { limit: half, user })).text;
    const tail = showBytes(
      await sandbox.readFile(path, { offset: stat.size - half, limit: half, user }),
    ).text;
    shown = {
      text: joinEnds(head, tail, maxChars, `of ${stat.size} bytes the middle was left out`),
      truncated: true,
    };
  }
  await sandbox.writeFile(path, "", { user, parents: false });
  return shown;
}
