/** Carries the agent's frames on the addon, and knows whether the machine is still of use. */
import { ShinkenError } from "../../errors/index.js";
import type { AgentPort, AgentTransport, ExchangeRequest } from "../agent/index.js";
import type { MachineBudget } from "../budget.js";
import {
  type NativeMachine,
  type PortName,
  type RunOutcome,
  type StopReason,
  TICKS_PER_MS,
} from "./addon.js";

/** Bounds of an exchange that brings none of its own. */
export interface DefaultLimits {
  /** Guest milliseconds; idle ones cost little. Not applied to exchanges in host time, where somebody may think. */
  maxGuestMs: number;
  /** Host milliseconds: the safety net. */
  wallMs: number;
}

/** Stop reasons after which no guest code runs any more. */
const ends: Partial<Record<StopReason, string>> = {
  shutdown: "the machine switched itself off",
  reboot: "the machine restarted, as it does when its kernel panics or its agent has died",
  failure: "the machine's kernel failed",
  host_memory: "the host has no memory left for the machine",
  idle: "the machine waits for something that can never happen",
};

/** Stop reasons of a run that its limits ended. */
const limited: ReadonlySet<string> = new Set<StopReason>(["instruction_limit", "guest_time_limit"]);

/** The monitor's bound on what may wait for a port. */
const MAX_INPUT_BYTES = 16 * 1024 * 1024;

export class MachineTransport implements AgentTransport {
  readonly #machine: NativeMachine;
  readonly #defaults: DefaultLimits;
  readonly #budget: MachineBudget | undefined;
  #end: ShinkenError | null = null;
  #parked = false;
  #console: ((bytes: Uint8Array) => void) | undefined;

  /** `budget`: what all exchanges together may use, beside the limits of each. */
  constructor(machine: NativeMachine, defaults: DefaultLimits, budget?: MachineBudget) {
    this.#machine = machine;
    this.#defaults = defaults;
    this.#budget = budget;
  }

  /** Why the machine is of no use any more; null while it is. */
  get end(): ShinkenError | null {
    return this.#end;
  }

  /** True if the hart stood in its idle loop when it last ran. */
  get parked(): boolean {
    return this.#parked;
  }

  /** Shows the machine's console to a listener, from the next exchange on; undefined: to nobody. */
  listen(listener: ((bytes: Uint8Array) => void) | undefined): void {
    this.#console = listener;
  }

  async exchange(
    request: ExchangeRequest,
    onFrame: (frame: Uint8Array) => void,
  ): Promise<{ reason: string }> {
    if (this.#end !== null) throw this.#end;
    if (request.input.length > MAX_INPUT_BYTES) {
      throw new ShinkenError(
        "too_large",
        `a request takes ${MAX_INPUT_BYTES} bytes, not ${request.input.length}`,
      );
    }
    const realtime = request.realtime === true;
    const wallMs = request.wallMs ?? (realtime ? undefined : this.#defaults.wallMs);
    const maxGuestMs = request.maxGuestMs ?? (realtime ? 0 : this.#defaults.maxGuestMs);
    const budget = this.#budget;
    budget?.check();
    const wall = { late: false };
    const timer =
      wallMs === undefined
        ? undefined
        : setTimeout(() => {
            wall.late = true;
            this.#machine.cancel();
          }, wallMs);
    try {
      const outcome = await this.#run(
        {
          port: portName(request.port),
          input: request.input,
          awaitStream: request.stream,
          maxGuestMs: Math.ceil(tighter(maxGuestMs, budget?.left.guestMs)),
          maxInstructions: tighter(request.maxInstructions ?? 0, budget?.left.instructions),
          realtime,
        },
        // In host time somebody reads along; otherwise everything comes at once with the end.
        realtime ? onFrame : undefined,
      );
      for (const frame of outcome.frames) onFrame(frame);
      this.#parked = outcome.parked;
      const { reason, runTicks, runInstructions } = outcome;
      budget?.spend({ guestMs: runTicks / TICKS_PER_MS, instructions: runInstructions }, limited.has(reason));
      this.#note(outcome);
      const exceeded = budget?.exceeded ?? null;
      if (exceeded !== null && limited.has(reason)) return { reason: `limit of ${exceeded}` };
      return { reason: wall.late && reason === "cancelled" ? "wall timeout" : reason };
    } finally {
      clearTimeout(timer);
    }
  }

  async #run(
    options: Parameters<NativeMachine["run"]>[0],
    onFrame: ((frame: Uint8Array) => void) | undefined,
  ): Promise<RunOutcome> {
    try {
      return await this.#machine.run(
        options,
        onFrame === undefined
          ? undefined
          : (frames) => {
              frames.forEach(onFrame);
            },
        this.#console,
      );
    } catch (cause) {
      throw nativeError(cause);
    }
  }

  /** Remembers an end, so that later requests fail with the reason and not with its consequences. */
  #note(outcome: RunOutcome): void {
    if (outcome.reason === "protocol") {
      this.#end = new ShinkenError("agent_protocol", `The guest broke the frame format: ${outcome.detail}`);
      throw this.#end;
    }
    const why = ends[outcome.reason];
    if (why === undefined) return;
    const detail = outcome.detail === "" ? "" : ` (${outcome.detail})`;
    this.#end = new ShinkenError("machine_died", `${why}${detail}`);
  }

  post(port: AgentPort, bytes: Uint8Array): void {
    // Refused only beyond 16 MiB, which credit keeps far away, or after the end, when nobody would read it.
    this.#machine.post(portName(port), bytes);
  }

  expectNobody(): void {
    this.#machine.expectNobody();
  }

  cancel(): void {
    this.#machine.cancel();
  }
}

/** The smaller of two limits, where 0 is none; a budget's is none only where it is infinite. */
function tighter(limit: number, budget = Number.POSITIVE_INFINITY): number {
  if (budget === Number.POSITIVE_INFINITY) return limit;
  return limit === 0 ? budget : Math.min(limit, budget);
}

function portName(port: AgentPort): PortName {
  return port === 1 ? "grader" : "agent";
}

/** An error of the addon with a code of the table. */
export function nativeError(cause: unknown): ShinkenError {
  if (cause instanceof ShinkenError) return cause;
  const message = cause instanceof Error ? cause.message : String(cause);
  const code = cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? "") : "";
  if (code === "closed") return new ShinkenError("machine_closed", message, { cause });
  if (code === "host_unsupported") {
    return new ShinkenError("host_unsupported", message.replace(/^host_unsupported: /, ""), {
      suggestion: "sysctl vm.unprivileged_userfaultfd=1, or use soft memory (`--memory soft`)",
      cause,
    });
  }
  if (code === "no_memory") return new ShinkenError("out_of_memory", message, { cause });
  if (code === "no_checkpoint")
    return new ShinkenError("checkpoint_missing", message.replace(/^no_checkpoint: /, ""), { cause });
  if (code.startsWith("golden_") || code === "delta_golden")
    return new ShinkenError("golden_invalid", message, { cause });
  return new ShinkenError("internal", message, { cause });
}
