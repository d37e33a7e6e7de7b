/** Commands of the read-only image that channels run in the grading fork. */
import type { ExecRequest, ExecResult } from "../../sandbox/sandbox.js";
import { DeadlinePassed } from "../deadline.js";
import { ContentFault } from "../value.js";
import type { MachineView } from "../view.js";

/**
 * The whole environment of a grader's command; nothing of the agent's is in it. A home would be the machine's, and with it the settings
 * and start-up files of nearly every program; Python loads nothing from the folder that it is started in either.
 */
export const GRADER_ENVIRONMENT = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  HOME: "/nonexistent",
  LANG: "C.UTF-8",
  LC_ALL: "C.UTF-8",
  PYTHONSAFEPATH: "1",
  PYTHONNOUSERSITE: "1",
  PYTHONDONTWRITEBYTECODE: "1",
};
/** Characters of standard error that evidence shows. */
const STDERR_SHOWN = 300;

/** Runs a command, as root unless said, in the grader's environment and what `env` adds. Rejects with `DeadlinePassed`, or with `ContentFault` where it prints too much. */
export async function runGraderCommand(
  view: MachineView,
  request: ExecRequest & { timeoutMs: number; maxOutputBytes: number },
): Promise<ExecResult> {
  const result = await view.call((sandbox) =>
    sandbox.exec({
      user: "root",
      cwd: "/",
      ...request,
      env: { ...GRADER_ENVIRONMENT, ...request.env },
      cleanEnv: true,
    }),
  );
  if (result.timedOut)
    throw new DeadlinePassed(`the command ran longer than ${request.timeoutMs} ms of guest time`);
  if (result.stdoutDropped > 0)
    throw new ContentFault(`the command printed more than ${request.maxOutputBytes} bytes`);
  return result;
}

/** What a command said in standard error, cut. */
export function complaint({ stderr }: ExecResult): string {
  return new TextDecoder().decode(stderr.subarray(0, STDERR_SHOWN)).trim();
}

/** How a command that failed ended, in words. */
export function failureOf(result: ExecResult): string {
  const how = result.exitCode === null ? `signal ${result.signal ?? "?"}` : `exit code ${result.exitCode}`;
  const said = complaint(result);
  return `the command ended with ${how}${said === "" ? "" : `: ${said}`}`;
}
