/** Stops making sandboxes of an image that keeps failing, says why, and tries one before it lets the others go on. */
import { ShinkenError } from "../../errors/index.js";

export interface BreakerOptions {
  /** Failures in a row after which it opens; 5 if unsaid. */
  threshold?: number;
  /** Milliseconds until the first probe; 1,000 if unsaid. Each probe that fails doubles them, up to `longestCooldownMs` (60,000). */
  cooldownMs?: number;
  longestCooldownMs?: number;
  /** Failed probes after which those who wait are told, instead of waiting on; 4 if unsaid. */
  probes?: number;
}

export interface BreakerState {
  /** What its sandboxes are made of: the image. */
  key: string;
  /** `probing`: one sandbox is being tried; the others wait for what becomes of it. */
  state: "closed" | "open" | "probing";
  /** How often it has opened. */
  opened: number;
  /** The failures that opened it last, and those of probes since; each reason once. */
  why: string[];
}

/** Leave to make one sandbox. Whoever has it tells what became of it: the first word counts. */
export interface Admission {
  readonly probe: boolean;
  /** It was given while all was well, and no longer is: ask again before using it. */
  readonly stale: boolean;
  sound(): void;
  failed(reason: string): void;
  /** Nothing can be said of the sandbox; idempotent, and to be called in any case. */
  end(): void;
}

interface Waiter {
  grant(probe: boolean): void;
  refuse(error: ShinkenError): void;
}

interface Circuit {
  state: BreakerState["state"];
  /** Failures in a row while it was closed. */
  row: string[];
  /** What opened it last, and what probes died of since: each reason once. */
  why: string[];
  failedProbes: number;
  opened: number;
  /** When the next probe may go, on the monotonic clock. */
  probeAt: number;
  timer: NodeJS.Timeout | undefined;
  waiters: Waiter[];
}

const reasonsKept = 8;
const defaults = { threshold: 5, cooldownMs: 1_000, longestCooldownMs: 60_000, probes: 4 };

/** One circuit an image. */
export class CircuitBreaker {
  private readonly options: Required<BreakerOptions>;
  private readonly circuits = new Map<string, Circuit>();

  constructor(options: BreakerOptions = {}) {
    this.options = { ...defaults, ...options };
  }

  /**
   * Leave at once while the circuit is closed; otherwise the first that comes after the cool-down is the probe, and the others wait for
   * it. Rejects with `circuit_open` after too many failed probes, and with the signal's reason.
   */
  async admit(key: string, signal?: AbortSignal): Promise<Admission> {
    signal?.throwIfAborted();
    const circuit = this.circuit(key);
    if (circuit.state === "closed") return this.admission(key, circuit, false);
    if (circuit.state === "open" && circuit.failedProbes >= this.options.probes) {
      // Nobody waits any more; the first that comes after the cool-down finds out whether it has got better.
      if (performance.now() < circuit.probeAt) throw this.refusal(key, circuit);
      circuit.state = "probing";
      return this.admission(key, circuit, true);
    }
    const probe = await this.wait(circuit, signal);
    return this.admission(key, circuit, probe);
  }

  states(): BreakerState[] {
    return [...this.circuits]
      .filter(([, { opened }]) => opened > 0)
      .map(([key, { state, opened, why }]) => ({ key, state, opened, why: [...why] }));
  }

  /** Forgets its timers; those who wait are refused. */
  close(): void {
    for (const [key, circuit] of this.circuits) {
      clearTimeout(circuit.timer);
      for (const waiter of circuit.waiters.splice(0)) waiter.refuse(this.refusal(key, circuit));
    }
  }

  private circuit(key: string): Circuit {
    const known = this.circuits.get(key);
    if (known !== undefined) return known;
    const made: Circuit = {
      ...{ state: "closed", row: [], why: [], failedProbes: 0, opened: 0, probeAt: 0 },
      ...{ timer: undefined, waiters: [] },
    };
    this.circuits.set(key, made);
    return made;
  }

  private wait(circuit: Circuit, signal: AbortSignal | undefined): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        circuit.waiters.splice(circuit.waiters.indexOf(waiter), 1);
        reject(signal?.reason as Error);
      };
      const settle = () => signal?.removeEventListener("abort", leave);
      const waiter: Waiter = {
        grant: (probe) => {
          settle();
          resolve(probe);
        },
        refuse: (error) => {
          settle();
          reject(error);
        },
      };
      circuit.waiters.push(waiter);
      signal?.addEventListener("abort", leave, { once: true });
      this.schedule(circuit);
    });
  }

  /** The first that waits becomes the probe once the cool-down is over. */
  private schedule(circuit: Circuit): void {
    if (circuit.state !== "open" || circuit.timer !== undefined || circuit.waiters.length === 0) return;
    circuit.timer = setTimeout(
      () => {
        circuit.timer = undefined;
        const first = circuit.state === "open" ? circuit.waiters.shift() : undefined;
        if (first === undefined) return;
        circuit.state = "probing";
        first.grant(true);
      },
      Math.max(0, circuit.probeAt - performance.now()),
    );
  }

  private admission(key: string, circuit: Circuit, probe: boolean): Admission {
    let told = false;
    const once = (then: () => void) => () => {
      if (told) return;
      told = true;
      then();
    };
    return {
      probe,
      get stale() {
        return !probe && circuit.state !== "closed";
      },
      sound: once(() => this.sound(circuit, probe)),
      failed: (reason) => once(() => this.failed(key, circuit, probe, reason))(),
      end: once(() => {
        if (!probe) return;
        // The probe has told nothing: the next one goes at once.
        circuit.state = "open";
        this.schedule(circuit);
      }),
    };
  }

  private sound(circuit: Circuit, probe: boolean): void {
    if (circuit.state !== "closed" && !probe) return;
    Object.assign(circuit, { state: "closed", failedProbes: 0, row: [] });
    for (const waiter of circuit.waiters.splice(0)) waiter.grant(false);
  }

  private failed(key: string, circuit: Circuit, probe: boolean, reason: string): void {
    const { threshold, cooldownMs, longestCooldownMs, probes } = this.options;
    if (probe) {
      circuit.failedProbes += 1;
      circuit.why = latest([...circuit.why, reason]);
      this.open(circuit, Math.min(cooldownMs * 2 ** circuit.failedProbes, longestCooldownMs));
      if (circuit.failedProbes < probes) return;
      for (const waiter of circuit.waiters.splice(0)) waiter.refuse(this.refusal(key, circuit));
    } else if (circuit.state === "closed") {
      circuit.row.push(reason);
      if (circuit.row.length < threshold) return;
      Object.assign(circuit, {
        opened: circuit.opened + 1,
        failedProbes: 0,
        why: latest(circuit.row),
        row: [],
      });
      this.open(circuit, cooldownMs);
    }
  }

  private open(circuit: Circuit, cooldownMs: number): void {
    circuit.state = "open";
    circuit.probeAt = performance.now() + cooldownMs;
    this.schedule(circuit);
  }

  private refusal(key: string, { why }: Circuit): ShinkenError {
    return new ShinkenError("circuit_open", `sandboxes of ${key} keep failing: ${why.join("; ")}`, {
      suggestion: "one is tried again after a while; what they die of is in the message",
    });
  }
}

/** Each reason once, and only the latest ones: probes may fail for days. */
function latest(reasons: readonly string[]): string[] {
  return [...new Set(reasons)].slice(-reasonsKept);
}
