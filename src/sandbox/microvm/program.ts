/** `shinken machine run`: one program on one machine, its console on a listener; and the finishing boot of an image. */
import { stat } from "node:fs/promises";
import type { FinishingBoot } from "../../images/types.js";
import { ShinkenError } from "../../errors/index.js";
import { loadAddon, type NativeDisk, type RunOutcome, TICKS_PER_MS } from "./addon.js";

export interface ProgramOptions {
  /** ELF, Linux Image, or flat binary entered at 0x80200000 in S-mode (a0 = hart id, a1 = device tree). */
  program: string;
  initrd?: string | undefined;
  append?: string | undefined;
  memoryMiB?: number | undefined;
  /** 0 or unsaid: no limit. */
  maxInstructions?: number | undefined;
  disks?: NativeDisk[] | undefined;
}

export interface ProgramOutcome {
  /** 0: SBI reset without a reason; 1: system failure, or it can never go on; 2: the instruction limit. */
  exitCode: 0 | 1 | 2;
  instructions: number;
  guestMs: number;
  reason: RunOutcome["reason"];
  /** Empty, or a line for people. */
  detail: string;
}

/**
 * Runs a program until it ends. `signal` stops it.
 * @throws ShinkenError `bad_request` if the program, initrd or memory size is wrong, `cancelled` after `signal`.
 */
export async function runProgram(
  options: ProgramOptions,
  onConsole?: (bytes: Uint8Array) => void,
  signal?: AbortSignal,
): Promise<ProgramOutcome> {
  const { program, initrd, append, memoryMiB, maxInstructions, disks } = options;
  await readable(program, "program");
  if (initrd !== undefined) await readable(initrd, "initrd");
  const machine = await loadAddon()
    .bootMachine({
      program,
      ...(initrd === undefined ? {} : { initrd }),
      ...(append === undefined ? {} : { bootargs: append }),
      ...(memoryMiB === undefined ? {} : { memoryMiB }),
      ...(disks === undefined ? {} : { disks }),
    })
    .catch((cause: unknown) => {
      throw new ShinkenError("bad_request", inWords(cause, options), { cause });
    });
  const stop = (): void => {
    machine.cancel();
  };
  signal?.addEventListener("abort", stop);
  try {
    if (signal?.aborted === true)
      throw new ShinkenError("cancelled", "the program was stopped before it started");
    const outcome = await machine.run({ maxInstructions: maxInstructions ?? 0 }, undefined, onConsole);
    return {
      exitCode: exitCodeOf(outcome),
      instructions: outcome.instructions,
      guestMs: outcome.ticks / TICKS_PER_MS,
      reason: outcome.reason,
      detail: outcome.detail === "" ? describe(outcome) : outcome.detail,
    };
  } finally {
    signal?.removeEventListener("abort", stop);
    await machine.close();
  }
}

/** What the monitor found, with the file that it found it in instead of its own name for the fault. */
function inWords(cause: unknown, { program, initrd }: ProgramOptions): string {
  if (!(cause instanceof Error)) return String(cause);
  const code = "code" in cause ? String(cause.code) : "";
  const { message } = cause;
  if (code === "" || !message.startsWith(`${code}: `)) return message;
  const file = { bad_program: program, bad_initrd: initrd }[code];
  return `${file === undefined ? "" : `${file}: `}${message.slice(code.length + 2)}`;
}

async function readable(path: string, field: string): Promise<void> {
  try {
    if ((await stat(path)).isFile()) return;
  } catch (cause) {
    throw new ShinkenError("bad_request", `${field}: ${path} cannot be read`, { path: field, cause });
  }
  throw new ShinkenError("bad_request", `${field}: ${path} is not a file`, { path: field });
}

function exitCodeOf(outcome: RunOutcome): 0 | 1 | 2 {
  switch (outcome.reason) {
    case "shutdown":
    case "reboot":
      return 0;
    case "instruction_limit":
      return 2;
    case "cancelled":
      throw new ShinkenError("cancelled", "the program was stopped");
    default:
      return 1;
  }
}

function describe(outcome: RunOutcome): string {
  if (outcome.reason === "instruction_limit") return `stopped after ${outcome.instructions} instructions`;
  if (outcome.reason === "idle") return "the machine waits for something that can never happen";
  if (outcome.reason === "reboot") return "the machine asked for a restart";
  if (outcome.reason === "failure") return "the machine reset itself with a system failure";
  return "";
}

/** Runs the boot that configures an image inside a machine; for `buildImage`. */
export const runFinishingBoot: FinishingBoot = async (boot) => {
  const decoder = new TextDecoder();
  const outcome = await runProgram(
    {
      program: boot.kernel,
      initrd: boot.initrd,
      append: boot.append,
      memoryMiB: boot.memoryMiB,
      disks: [{ path: boot.disk.path, writable: true }],
    },
    (bytes) => {
      boot.onConsole(decoder.decode(bytes, { stream: true }));
    },
  );
  // Init switches the machine off when the script has succeeded; a kernel that panics restarts it.
  return outcome.reason === "shutdown"
    ? { ok: true, reason: "" }
    : { ok: false, reason: outcome.detail || outcome.reason };
};
