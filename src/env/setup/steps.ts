/** Runs a task's steps (setup, verify.prepare, mutations) on a machine. */
import { ShinkenError } from "../../errors/index.js";
import type { Sandbox } from "../../sandbox/sandbox.js";
import { GRADER_ENVIRONMENT } from "../../verifiers/channels/command.js";
import { showBytes } from "../aci/index.js";
import {
  type CopyStep,
  type ExecStep,
  type LaunchStep,
  type Step,
  type WriteStep,
  writeStepBytes,
} from "../task/index.js";
import { waitReady } from "./probe.js";

export interface StepContext {
  /** Reads an asset of the task, with its hash checked. */
  readAsset(path: string): Promise<Uint8Array>;
  /** Path that stands before the steps' own in messages: `setup`, `verify.prepare`. */
  at: string;
  /** For steps of a grader: commands begin in `/` with its environment, where nothing of the agent's lies. */
  grading?: boolean | undefined;
}

/** Output of a failed command that its error carries. */
const shownOfFailure = 2_000;
const copyTimeoutMs = 600_000;
const launchTimeoutMs = 60_000;

/** Runs steps in order. Rejects with `setup_failed` and the step's path at the first that fails. */
export async function runSteps(
  sandbox: Sandbox,
  steps: readonly Step[],
  context: StepContext,
): Promise<void> {
  for (const [index, step] of steps.entries()) {
    try {
      await runStep(sandbox, step, context);
    } catch (error) {
      throw asSetupFailure(error, `${context.at}[${index}]`);
    }
  }
}

/** What the guest refused or a probe missed is a fault of the setup; a dead machine stays what it is. */
function asSetupFailure(error: unknown, path: string): unknown {
  if (!(error instanceof ShinkenError)) return error;
  if (error.code !== "guest_error" && error.code !== "setup_failed") return error;
  return new ShinkenError("setup_failed", `${path}: ${error.message}`, { path, cause: error });
}

async function runStep(sandbox: Sandbox, step: Step, context: StepContext): Promise<void> {
  if ("exec" in step) return runExec(sandbox, step.exec, context);
  if ("write" in step) return runWrite(sandbox, step.write, context);
  if ("copy" in step) return runCopy(sandbox, step.copy, context);
  if ("launch" in step) return runLaunch(sandbox, step.launch, context);
  return waitReady(sandbox, step.wait_ready);
}

async function runExec(sandbox: Sandbox, step: ExecStep, { grading }: StepContext): Promise<void> {
  const result = await sandbox.exec({
    argv: step.argv,
    user: step.user,
    cwd: step.cwd ?? (grading === true ? "/" : undefined),
    env: grading === true ? { ...GRADER_ENVIRONMENT, ...step.env } : step.env,
    stdin: step.stdin,
    timeoutMs: step.timeout_s * 1_000,
  });
  if (result.exitCode !== null && step.exit.includes(result.exitCode)) return;
  const ending = result.timedOut
    ? `took longer than ${step.timeout_s} s`
    : result.exitCode === null
      ? `was ended by signal ${result.signal ?? "?"}`
      : `gave exit code ${result.exitCode}`;
  const said = showBytes(result.stderr.length > 0 ? result.stderr : result.stdout).text.slice(
    -shownOfFailure,
  );
  throw new ShinkenError(
    "setup_failed",
    `${step.argv[0]} ${ending}${said === "" ? "" : `: ${said.trimEnd()}`}`,
  );
}

async function runWrite(sandbox: Sandbox, step: WriteStep, context: StepContext): Promise<void> {
  const bytes = await writeStepBytes(step, (path) => context.readAsset(path));
  await sandbox.writeFile(step.path, bytes, { user: step.owner, mode: Number.parseInt(step.mode, 8) });
}

async function runCopy(sandbox: Sandbox, step: CopyStep, context: StepContext): Promise<void> {
  const command = { user: "root", timeout_s: copyTimeoutMs / 1_000, exit: [0] };
  await runExec(sandbox, { ...command, argv: ["cp", "-a", "--", step.from, step.to] }, context);
  if (step.owner !== undefined) {
    const argv = ["chown", "-R", "--", `${step.owner}:${step.owner}`, step.to];
    await runExec(sandbox, { ...command, argv }, context);
  }
}

/** The program is parted from the call that starts it, so that it lives on and holds none of its pipes. */
async function runLaunch(sandbox: Sandbox, step: LaunchStep, context: StepContext): Promise<void> {
  const command = {
    argv: [
      "sh",
      "-c",
      'command -v -- "$1" >/dev/null || exit 127; setsid -f -- "$@" </dev/null >/dev/null 2>&1',
      "sh",
      ...step.argv,
    ],
    user: step.user,
    cwd: step.cwd,
    env: step.env,
    timeout_s: launchTimeoutMs / 1_000,
    exit: [0],
  };
  await runExec(sandbox, command, context);
}
