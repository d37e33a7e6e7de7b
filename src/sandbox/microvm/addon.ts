/** The native addon, typed. Nothing outside this folder touches it. */
import { createRequire } from "node:module";
import { ShinkenError } from "../../errors/index.js";
import { packageRoot } from "../../images/assets.js";
import type { NetworkStats, StateDifference } from "../sandbox.js";

/** Console ports of a machine, by what they are for. */
export type PortName = "agent" | "grader";

/** Guest memory: a tree of shared pages, or a flat private mapping with userfaultfd. */
export type MemoryKind = "soft" | "uffd";

/** How often each path of userfaultfd was taken; zeros with soft memory. */
export interface MemoryPaths {
  /** Dirty set: pages that a scan found written. */
  scannedPages: number;
  /** Cold golden: faults that waited until their page was read. */
  coldFaults: number;
  /** Cold golden: pages read before anybody asked. */
  prefetchedPages: number;
  /** Live snapshot: writes that waited until their page was copied. */
  liveFaults: number;
}

export interface NativeDisk {
  path: string;
  /** Recorded in goldens and compared when one is loaded; at most 64 bytes. */
  identity?: string;
  writable?: boolean;
}

export interface BootConfig {
  memoryMiB?: number;
  /** Linux Image, RISC-V ELF, or flat binary. */
  program: string;
  initrd?: string;
  bootargs?: string;
  disks?: NativeDisk[];
  /** 32 bytes for /chosen/rng-seed; none if unsaid. */
  rngSeed?: Uint8Array;
  generationId?: Uint8Array;
  /** Six bytes: address of the network card. */
  mac?: Uint8Array;
  /** `soft` if unsaid. */
  memory?: MemoryKind;
}

export type StopReason =
  | "reply"
  | "idle"
  | "instruction_limit"
  | "guest_time_limit"
  | "shutdown"
  | "reboot"
  | "failure"
  | "cancelled"
  | "protocol"
  | "output_limit"
  | "host_memory";

export interface RunOptions {
  /** Port of `input` and of the awaited stream; the agent's if unsaid. */
  port?: PortName;
  /** Whole frames, given to the guest before its first instruction. */
  input?: Uint8Array;
  /** Stop at the WFI that follows the last frame of this stream. */
  awaitStream?: number;
  parkBudget?: number;
  maxInstructions?: number;
  maxGuestMs?: number;
  /** Bytes of frames kept in the result, when no `onFrames` takes them. */
  maxOutputBytes?: number;
  /** Idle waits last as long as on a clock; input enters at once. */
  realtime?: boolean;
}

export interface RunOutcome {
  reason: StopReason;
  /** True if the hart waits for an interrupt: a good moment to freeze. */
  parked: boolean;
  /** Since power-on. Ticks are 2 ns. */
  instructions: number;
  ticks: number;
  runInstructions: number;
  runTicks: number;
  /** Whole frames of `port`, header included; empty when `onFrames` took them. */
  frames: Uint8Array[];
  detail: string;
  /** Input that entered in mid-run, for replays. */
  events: { instructions: number; ticks: number; port: PortName; bytes: Uint8Array }[];
}

export interface NativeStats {
  instructions: number;
  ticks: number;
  memoryBytes: number;
  privateBytes: number;
  pendingInput: number;
  /** By digests: what was written since the one before. */
  hashedPages: number;
  paths: MemoryPaths;
  net: NetworkStats;
}

/** A delta file, as it was written. */
export interface DeltaFacts {
  /** State digest, 32 hex digits. */
  digest: string;
  /** That hold other bytes than the golden's. */
  pages: number;
  /** Of the file. */
  bytes: number;
}

/** A machine's state after a step. */
export interface NativeCheckpoint {
  step: number;
  /** Since power-on. Ticks are 2 ns. */
  instructions: number;
  ticks: number;
  /** State digest, 32 hex digits. */
  digest: string;
  /** Pages that hold other bytes than in the checkpoint before it; than in the golden, for the first. */
  deltaPages: number;
}

export interface CheckpointStats {
  kept: number;
  /** What checkpoints keep alive beside the golden and the machine; most of it guest pages. */
  heldBytes: number;
  heldPages: number;
  taken: number;
  /** For want of budget. */
  dropped: number;
}

/** Of a fork: it keeps checkpoints, and so many bytes of them. */
interface CheckpointBudget {
  checkpointBytes?: number;
}
type BranchOptions = { kind: "branch"; generationId: Uint8Array; mac?: Uint8Array } & CheckpointBudget;

export interface NativeMachine {
  /** One call at a time; a second one throws an Error with code `busy`. Listeners get what gathered, in order. */
  run(
    options: RunOptions,
    onFrames?: (frames: Uint8Array[]) => void,
    onConsole?: (bytes: Uint8Array) => void,
  ): Promise<RunOutcome>;
  /** False if it does not fit or the machine is closed. */
  post(port: PortName, bytes: Uint8Array): boolean;
  /** In a realtime run: idle waits are skipped from here on. */
  expectNobody(): void;
  cancel(): void;
  freeze(): Promise<NativeGolden>;
  /**
   * As `freeze`, but the machine is free again once the moment is held, and `golden` is finished while it goes on; with `uffd` memory
   * a write to a page that is not copied yet waits for it. One at a time: a second one rejects with code `busy`. A close waits for
   * the end. `golden` rejects with code `no_memory` if the host has none for the copies; the machine goes on.
   */
  snapshot(): Promise<{ golden: Promise<NativeGolden> }>;
  fork(options: BranchOptions | { kind: "grade" }): Promise<NativeMachine>;
  /** For machines forked with `checkpointBytes`. `dropped`: the steps that were. Error with code `no_checkpoint` for others. */
  checkpoint(options: {
    step: number;
    ownerBytes?: number;
  }): Promise<NativeCheckpoint & { dropped: number[] }>;
  /** By step; allowed at any time. */
  checkpoints(): CheckpointStats & { budgetBytes: number; checkpoints: NativeCheckpoint[] };
  /** A fork of its state after a step. Error with code `no_checkpoint`, which names those that are kept. */
  forkAt(at: { step: number }, options: BranchOptions | { kind: "grade" }): Promise<NativeMachine>;
  /** Costs the pages written since the last digest. */
  digest(): Promise<string>;
  /**
   * Writes its present state, or that of a kept checkpoint, as the difference from the golden that it descends from: docs/golden.md.
   * `compress`: unsaid, where the host has Zstandard. Error with code `invalid_config` if it descends from none.
   */
  saveDelta(options: { path: string; step?: number; note?: string; compress?: boolean }): Promise<DeltaFacts>;
  /** Gives the code that this fork of `golden` decoded to the forks that come after it. */
  shareCodeWith(golden: NativeGolden): Promise<void>;
  /** Leaves its switch; nothing if it is on none. */
  part(): void;
  /** Plugs the network cable in, or pulls it out. */
  setLink(up: boolean): void;
  stats(): NativeStats;
  portOpen(port: PortName): boolean;
  /** Cancels what runs, then frees everything. Idempotent. */
  close(): Promise<void>;
  readonly closed: boolean;
}

export interface NativeGolden {
  fork(
    options: (
      | { kind?: "replica"; generationId: Uint8Array; mac?: Uint8Array }
      /** Both are the frozen machine, to the bit; `grade` has the priority of grade forks. */
      | { kind: "grade" | "resume" }
    ) & {
      /** That of the machine that was frozen if unsaid; `soft` of a loaded golden. Changes nothing in the guest. */
      memory?: MemoryKind;
    } & CheckpointBudget,
  ): NativeMachine;
  save(options: { path: string; note?: string; compress?: boolean }): Promise<void>;
  digest(): Promise<string>;
  /** Decodes the code that its file names, for later forks; costs about 1.5 µs a block, on an engine thread. */
  decodeCode(): Promise<void>;
  /**
   * Of a golden loaded from disk: fills pages of its memory file ahead of the first `uffd` forks, on a thread of its own, in this order
   * (page numbers, four bytes each, little-endian) and then the rest. Nothing for `soft` forks, which need it not.
   */
  prefetch(options: { order?: Uint8Array }): void;
  /** The pages that `uffd` forks touched before they were there, in that form: an order for the next process. */
  touchedPages(): Uint8Array;
  facts(): {
    memoryBytes: number;
    storedPages: number;
    instructions: number;
    ticks: number;
    note: string;
    hasCode: boolean;
  };
  close(): void;
  readonly closed: boolean;
}

/** Requests that took so long, by class. */
export interface TimeStats {
  counts: number[];
  count: number;
  seconds: number;
}

export interface PriorityStats {
  /** Requests that wait for a thread, and those that have one. */
  queued: number;
  running: number;
  /** Of the requests that have ended: how long each waited for a thread, and how long it had one. */
  waited: TimeStats;
  ran: TimeStats;
}

/** A golden file, by itself: docs/golden.md. */
export interface GoldenFacts {
  version: number;
  machineAbi: number;
  /** State digest, 32 hex digits. */
  digest: string;
  compressed: boolean;
  fileBytes: number;
  memoryBytes: number;
  /** Pages of RAM that are not zeros, and how many different ones. */
  storedPages: number;
  differentPages: number;
  /** What those take in the file. */
  pageBytes: number;
  /** Pages with code that is decoded at a load, and its blocks. */
  codePages: number;
  codeBlocks: number;
  disks: { bytes: number; identity: string }[];
  note: string;
}

/** What one JavaScript environment holds (first three), what the process's engine does, and all guest memory of the process. */
export interface EngineStats {
  machines: number;
  goldens: number;
  inFlight: number;
  threads: number;
  queued: number;
  running: number;
  waiting: number;
  /** Turns given so far, and how many of them were cut short for another request. */
  turns: number;
  preempted: number;
  /** Host bytes of code that machines decoded and translated for themselves. */
  codeBytes: number;
  /** Machines at rest that let go of theirs. */
  cachesDropped: number;
  /** Upper bounds of the classes of `waited` and `ran`, in seconds; one more class is beyond the last. */
  timeBounds: number[];
  priorities: { ordinary: PriorityStats; grade: PriorityStats };
  /** 4 KiB pages that a machine or golden reaches, each counted once however many share it; exact. */
  livePages: number;
  /** The same in bytes. */
  liveBytes: number;
  /** Bytes that the pools hold from the host: the live ones, and room kept for the next fork. */
  heldBytes: number;
  /** Nodes of page tables. */
  tables: number;
  /** Pages of golden files that are mapped; the host's page cache holds them. */
  filePages: number;
  /** Of `liveBytes`, what flat memories and their goldens hold. */
  flatBytes: number;
  /** Of flat goldens, what lies in pages of 2 MiB; 0 where the host grants none. */
  hugeBytes: number;
  /** All machines that were ever there. */
  paths: MemoryPaths;
  /** Of all machines together. */
  checkpoints: CheckpointStats;
}

/** What a host grants flat guest memory. */
export interface HostMemory {
  /** Why there is none, and what to set; null if there is. */
  refusal: string | null;
  /** Written pages can be asked for (Linux 6.7): digests and checkpoints cost what was written, snapshots need not stop the machine. */
  writeScan: boolean;
  /** Pages of a golden on disk can be filled as they are touched. */
  coldGoldens: boolean;
  /** A page of 2 MiB was asked for, and came. */
  hugePages: boolean;
}

export interface Addon {
  readonly Machine: new () => NativeMachine;
  readonly Golden: new () => NativeGolden;
  readonly machineAbi: number;
  bootMachine(config: BootConfig): Promise<NativeMachine>;
  loadGolden(options: {
    path: string;
    disks?: NativeDisk[];
    check?: "full" | "index";
  }): Promise<NativeGolden>;
  /**
   * A state that `saveDelta` wrote, on the golden that it stands on; shares that one's other pages and outlives it. Errors with a code
   * `golden_...`, or `delta_golden` for another golden.
   */
  loadDelta(options: { path: string; golden: NativeGolden }): Promise<NativeGolden>;
  /** In what two machines at rest, or frozen states, differ. Costs the pages that they do not share. */
  compareStates(
    one: NativeMachine | NativeGolden,
    other: NativeMachine | NativeGolden,
  ): Promise<StateDifference>;
  /** What a golden file says of itself: `index` all but its pages, `full` those too. Needs no disks. */
  inspectGolden(options: { path: string; check?: "full" | "index" }): Promise<GoldenFacts>;
  /** The same golden in the present version of the format, for mapping or as an archive. */
  repackGolden(options: { from: string; to: string; compress?: boolean }): Promise<void>;
  /** Puts 2 to 16 machines on one switch: a run of one takes the others along. */
  joinMachines(machines: readonly NativeMachine[]): void;
  /** What this host grants `uffd` memory; asks it anew. */
  hostMemory(): HostMemory;
  engineStats(): EngineStats;
  /** Machines at rest let go of their decoded code, and freed memory goes back to the host. */
  dropCaches(): Promise<void>;
}

/** Guest memory of the whole process, all environments and workers together. */
export interface GuestMemory {
  /** Pages that a machine or golden reaches, each counted once however many share it. */
  liveBytes: number;
  /** What is taken from the host for them: the live ones, and room kept for the next fork. */
  heldBytes: number;
  /** Pages of golden files that are mapped; the host's page cache holds them. */
  fileBytes: number;
  /** Of `liveBytes`, what flat memories and their goldens hold. */
  flatBytes: number;
  /** Of flat goldens, what lies in pages of 2 MiB; 0 where the host grants none. */
  hugeBytes: number;
  /** What userfaultfd served. */
  paths: MemoryPaths;
}

/** What the threads of the process do, and how long requests waited for one. */
export type EngineLoad = Pick<
  EngineStats,
  | "threads"
  | "queued"
  | "running"
  | "waiting"
  | "turns"
  | "preempted"
  | "codeBytes"
  | "cachesDropped"
  | "timeBounds"
  | "priorities"
  | "checkpoints"
>;

/** Undefined as long as the addon was not needed. Does not load it. */
export function engineLoad(): EngineLoad | undefined {
  return loaded?.engineStats();
}

export const PAGE_BYTES = 4096;

/** Does not load the addon: where it was never needed, no machine has any memory. */
export function guestMemory(): GuestMemory {
  const stats = loaded?.engineStats();
  if (stats === undefined) {
    const paths = { scannedPages: 0, coldFaults: 0, prefetchedPages: 0, liveFaults: 0 };
    return { liveBytes: 0, heldBytes: 0, fileBytes: 0, flatBytes: 0, hugeBytes: 0, paths };
  }
  return {
    liveBytes: stats.liveBytes,
    heldBytes: stats.heldBytes,
    fileBytes: stats.filePages * PAGE_BYTES,
    flatBytes: stats.flatBytes,
    hugeBytes: stats.hugeBytes,
    paths: stats.paths,
  };
}

let loaded: Addon | undefined;

/**
 * The addon, loaded at the first call: the one compiled here, else a prebuilt one for this platform.
 * @throws ShinkenError `host_unsupported` if there is none.
 */
export function loadAddon(): Addon {
  if (loaded !== undefined) return loaded;
  const require = createRequire(import.meta.url);
  try {
    const load = require("node-gyp-build") as (folder: string) => Addon;
    loaded = load(packageRoot());
  } catch (cause) {
    throw new ShinkenError("host_unsupported", "the native addon is not built for this platform", {
      suggestion: "run `make build` in a checkout (needs make and a C++20 compiler)",
      cause,
    });
  }
  return loaded;
}

/** Guest ticks (2 ns) in a millisecond. */
export const TICKS_PER_MS = 500_000;
