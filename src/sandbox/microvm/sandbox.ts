/** A microVM as a `Sandbox`. */
import { ShinkenError } from "../../errors/index.js";
import { AgentClient, type AgentPort, type ExchangeOptions, GuestError } from "../agent/index.js";
import type { MachineBudget } from "../budget.js";
import type {
  Checkpoint,
  CheckpointList,
  Dialogue,
  ExecRequest,
  ExecResult,
  ExecStream,
  FileStat,
  ForkKind,
  ForkOptions,
  Golden,
  GoldenKey,
  Look,
  Network,
  NetworkAddress,
  ProcessInfo,
  ReadOptions,
  Sandbox,
  SandboxStats,
  SavedState,
  StateDifference,
  StreamOptions,
  WallClock,
  WriteOptions,
} from "../sandbox.js";
import { loadAddon, type NativeCheckpoint, type NativeMachine, PAGE_BYTES, TICKS_PER_MS } from "./addon.js";
import { QueuedDialogue } from "./dialogue.js";
import type { Descent, Family } from "./family.js";
import { type BranchOptions, branchOf, gradeForkOf } from "./fork.js";
import { freezeMachine } from "./golden.js";
import { saveState } from "./state.js";
import { QueuedStream } from "./stream.js";
import { MachineTransport, nativeError } from "./transport.js";
import { Turns } from "./turns.js";

/**
 * Guest milliseconds for one look into a grade fork. The longest there are need a tenth of it; beyond it the agent is held up in the
 * kernel by what the workload made of its file system, whose own processes are frozen, and no answer will come.
 */
const LOOK = { maxGuestMs: 5_000 };
/** Guest milliseconds for the workload of a grade fork to stand still. */
const FREEZE_MS = 1_000;

/** Machines in the order in which they were made. */
let nextSerial = 0;

export interface MachineParts {
  id: string;
  native: NativeMachine;
  family: Family;
  descent: Descent;
  /** Numbers of the agent's streams go on where the parent stood. */
  firstStream: number;
  /** What all requests together may use; unsaid: no bound. */
  budget?: MachineBudget | undefined;
  address: NetworkAddress | null;
}

export class MicrovmSandbox implements Sandbox {
  readonly id: string;
  readonly family: Family;
  readonly descent: Descent;
  readonly native: NativeMachine;
  readonly transport: MachineTransport;
  /** The client on the agent's port, or on the grader's for a grade fork. For this folder only. */
  readonly agent: AgentClient;
  /** Branches taken so far; part of a branch's path. */
  branches = 0;
  readyMs: number | null = null;
  clock: WallClock | null = null;
  address: NetworkAddress | null;
  /** Of its own, or those of the network that it is on. */
  turns = new Turns();
  network: Network | null = null;
  readonly #port: AgentPort;
  readonly #serial = nextSerial++;
  /** By the step of each checkpoint: where its agent stood. */
  readonly #streams = new Map<number, number>();
  #frozen: Promise<void> | null = null;
  /** Of a grade fork: the workload is left alone. */
  #goesOn = false;
  /** The golden that is being finished, which requests need not wait for, but the next one does. */
  #freezing: Promise<void> = Promise.resolve();
  #closing: Promise<void> | null = null;

  constructor(parts: MachineParts) {
    this.id = parts.id;
    this.native = parts.native;
    this.family = parts.family;
    this.descent = parts.descent;
    this.address = parts.address;
    this.transport = new MachineTransport(parts.native, parts.family.household.limits, parts.budget);
    this.#port = parts.descent.kind === "grade" ? 1 : 0;
    this.agent = new AgentClient(this.transport, {
      port: this.#port,
      firstStream: parts.firstStream,
      gathers: parts.descent.kind === "grade",
    });
    this.family.household.add(this);
  }

  /** What `stats` told before the machine was closed. */
  #lastStats: SandboxStats | null = null;

  get closed(): boolean {
    return this.#closing !== null;
  }

  /** Runs `work` in its turn. */
  #turn<T>(work: () => Promise<T>): Promise<T> {
    this.#checkOpen();
    return this.turns.take(() => this.#prepared(work));
  }

  /**
   * Runs what only looks. In a grade fork, where nothing changes meanwhile, neighbours share a turn, and so the machine
   * runs once for all of them. Elsewhere that would make what a machine does depend on when its caller asks.
   */
  #look<T>(work: () => Promise<T>): Promise<T> {
    return this.#settled(() => {
      if (this.descent.kind !== "grade") return this.#turn(work);
      this.#checkOpen();
      return this.turns.share(() => this.#aheadOf(work));
    });
  }

  /** The workload's freeze and the looks go to the agent together: it looks once nothing runs any more. */
  async #aheadOf<T>(work: () => Promise<T>): Promise<T> {
    this.#checkOpen();
    const frozen = this.#goesOn ? undefined : this.#freezeWorkload();
    const [result] = await Promise.all([this.#guarded(work), frozen]);
    return result;
  }

  /** In a grade fork the workload is frozen first, unless said otherwise: nothing that the agent left behind runs while checks look. */
  async #prepared<T>(work: () => Promise<T>): Promise<T> {
    this.#checkOpen();
    if (this.descent.kind === "grade" && !this.#goesOn) await this.#freezeWorkload();
    return this.#guarded(work);
  }

  #freezeWorkload(): Promise<void> {
    this.#frozen ??= this.#guarded(() => this.agent.freeze(true, FREEZE_MS, { looks: 0 })).catch(
      (error: unknown) => {
        // A process that waits inside the kernel cannot be seen to stand still; it is stopped before it could run again.
        if (error instanceof GuestError && error.errno === "ETIMEDOUT") return;
        this.#frozen = null;
        throw error;
      },
    );
    return this.#frozen;
  }

  /** Limits of a request that only looks. */
  get #lookLimits(): ExchangeOptions | undefined {
    return this.descent.kind === "grade" ? LOOK : undefined;
  }

  workload(state: "goes on" | "stands still"): Promise<void> {
    return this.#settled(() =>
      this.#aside(async () => {
        this.#goesOn = state === "goes on";
        if (!this.#goesOn || this.#frozen === null) return;
        this.#frozen = null;
        await this.agent.freeze(false);
      }),
    );
  }

  /** Work that touches the machine but asks nothing of its agent. */
  #aside<T>(work: () => Promise<T>): Promise<T> {
    this.#checkOpen();
    return this.turns.take(() => {
      this.#checkOpen();
      return this.#guarded(work);
    });
  }

  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (this.closed) throw closedError(this.id);
      throw error instanceof ShinkenError ? error : nativeError(error);
    }
  }

  #checkOpen(): void {
    if (this.closed) throw closedError(this.id);
  }

  exec(request: ExecRequest): Promise<ExecResult> {
    return this.#later(() => this.agent.exec(request, this.#extras()));
  }

  stream(request: ExecRequest, options: StreamOptions = {}): ExecStream {
    this.#checkOpen();
    if (this.network !== null) {
      throw new ShinkenError(
        "bad_request",
        `${this.id} is on a switch, where no machine waits for a person`,
        {
          suggestion: "use exec, or a dialogue",
        },
      );
    }
    return new QueuedStream(this.turns, () => this.agent.stream(request, { ...options, ...this.#extras() }));
  }

  async dialogue(request: ExecRequest): Promise<Dialogue> {
    const inner = await this.#later(() => this.agent.dialogue(request, this.#extras()));
    return new QueuedDialogue(
      inner,
      (work) => this.#later(work),
      () => this.closed,
    );
  }

  readFile(path: string, options: ReadOptions = {}): Promise<Uint8Array> {
    return this.#look(() => this.agent.readFile(path, options, this.#lookLimits));
  }

  writeFile(path: string, data: Uint8Array | string, options: WriteOptions = {}): Promise<void> {
    return this.#later(() => this.agent.writeFile(path, data, options));
  }

  stat(path: string): Promise<FileStat> {
    return this.#look(() => this.agent.stat(path, this.#lookLimits));
  }

  statIfExists(path: string): Promise<FileStat | null> {
    return this.#look(() => this.agent.statIfExists(path, this.#lookLimits));
  }

  look(path: string): Promise<Look | null> {
    return this.#look(() => this.agent.look(path, this.#lookLimits));
  }

  list(path: string, limit?: number): Promise<FileStat[]> {
    return this.#look(() => this.agent.list(path, limit, this.#lookLimits));
  }

  hash(path: string, limit?: number): Promise<string> {
    return this.#look(() => this.agent.hash(path, limit, this.#lookLimits));
  }

  processes(): Promise<ProcessInfo[]> {
    return this.#look(() => this.agent.processes(this.#lookLimits));
  }

  commandLines(): Promise<Pick<ProcessInfo, "pid" | "argv">[]> {
    return this.#look(() => this.agent.commandLines(this.#lookLimits));
  }

  wait(ms: number): Promise<void> {
    return this.#later(() => this.agent.wait(ms));
  }

  fork(kind: ForkKind, options: ForkOptions = {}): Promise<Sandbox> {
    return this.#settled(() =>
      this.#aside(() =>
        kind === "grade" ? gradeForkOf(this, options.budget) : branchOf(this, branchOptions(options)),
      ),
    );
  }

  checkpoint(step: number, ownerBytes = 0): Promise<Checkpoint & { dropped: number[] }> {
    return this.#settled(() =>
      this.#aside(async () => {
        // What the machine writes again after it is there twice.
        const { dropped, ...native } = await this.family.household.admission.during(
          "checkpoint",
          this.native.stats().privateBytes,
          () => this.native.checkpoint({ step, ownerBytes }),
        );
        this.#streams.set(step, this.agent.nextStream);
        for (const gone of dropped) this.#streams.delete(gone);
        return { ...checkpointOf(native), dropped };
      }),
    );
  }

  checkpoints(): CheckpointList {
    const { budgetBytes, heldBytes, taken, dropped, checkpoints } = this.native.checkpoints();
    return { budgetBytes, heldBytes, taken, dropped, checkpoints: checkpoints.map(checkpointOf) };
  }

  forkAt(step: number, options: ForkOptions = {}): Promise<Sandbox> {
    return this.#settled(() =>
      this.#aside(() => branchOf(this, { ...branchOptions(options), atStep: step })),
    );
  }

  /** Where a branch's agent goes on numbering its streams: from the present state, or from that after a step. */
  nextStreamAt(step: number | undefined): number {
    return (step === undefined ? undefined : this.#streams.get(step)) ?? this.agent.nextStream;
  }

  saveState(path: string, { step }: { step?: number } = {}): Promise<SavedState> {
    return this.#settled(() => this.#aside(() => saveState(this, path, step)));
  }

  difference(other: Sandbox): Promise<StateDifference> {
    return this.#settled(() => {
      if (!(other instanceof MicrovmSandbox)) {
        throw new ShinkenError("bad_request", `${other.id} is no machine that could be compared`);
      }
      const compare = (): Promise<StateDifference> => loadAddon().compareStates(this.native, other.native);
      // Machines on one switch share their turns. Others are taken in one order, so that no two callers wait for each other.
      if (this.turns === other.turns) return this.#aside(compare);
      const [first, second] = this.#serial < other.#serial ? [this, other] : [other, this];
      return first.#aside(() => second.#aside(compare));
    });
  }

  freeze(key: GoldenKey): Promise<Golden> {
    return this.#settled(async () => {
      const { golden } = await this.#aside(async () => {
        await this.#freezing;
        const begun = await freezeMachine(this, key);
        this.#freezing = begun.golden.then(
          () => undefined,
          () => undefined,
        );
        return begun;
      });
      return golden;
    });
  }

  digest(): Promise<string> {
    return this.#settled(() => this.#aside(() => this.native.digest()));
  }

  stats(): SandboxStats {
    if (this.#lastStats !== null) return this.#lastStats;
    const { instructions, ticks, privateBytes, memoryBytes, net: network } = this.native.stats();
    return { instructions, guestMs: ticks / TICKS_PER_MS, privateBytes, memoryBytes, network };
  }

  /** Makes the request that runs now reject with `cancelled`; those that wait go on in their turn. */
  cancel(): void {
    this.transport.cancel();
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      this.family.household.remove(this);
      this.#lastStats = { ...this.stats(), privateBytes: 0 };
      await this.native.close();
      await this.turns.idle();
    })();
    return this.#closing;
  }

  #later<T>(work: () => Promise<T>): Promise<T> {
    return this.#settled(() => this.#turn(work));
  }

  /** A closed machine rejects like every other failure; it does not throw. */
  async #settled<T>(work: () => Promise<T>): Promise<T> {
    return work();
  }

  /** Grade forks run programs from the read-only image, whatever the agent made of the machine's own. */
  #extras(): { image?: boolean } {
    return this.descent.kind === "grade" ? { image: true } : {};
  }
}

function branchOptions({ seed, clock, checkpoints }: ForkOptions): BranchOptions {
  return { seed: seed ?? null, clock, checkpoints };
}

function checkpointOf({ step, digest, deltaPages, instructions, ticks }: NativeCheckpoint): Checkpoint {
  return {
    step,
    digest,
    deltaPages,
    deltaBytes: deltaPages * PAGE_BYTES,
    instructions,
    guestMs: ticks / TICKS_PER_MS,
  };
}

function closedError(id: string): ShinkenError {
  return new ShinkenError("machine_closed", `machine ${id} was closed`);
}
