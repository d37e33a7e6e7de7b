/**
 * The `Sandbox` contract: a machine's hands and eyes, whatever runs it. Providers implement it; everything above
 * (env, verifiers, rollout) knows only this file. Every method rejects with a `ShinkenError`.
 */
import type { MachineBudget } from "./budget.js";

/** A command to run. `argv` is executed as it is; a shell is the caller's wish: `["sh", "-c", script]`. */
export interface ExecRequest {
  argv: readonly string[];
  /** Working directory; the user's home if unsaid. */
  cwd?: string | undefined;
  /** Added to a small default environment (PATH, HOME, USER, LANG, TERM); with `cleanEnv` it is the whole of it. */
  env?: Readonly<Record<string, string>> | undefined;
  cleanEnv?: boolean | undefined;
  /** User name in the guest; `agent` if unsaid. */
  user?: string | undefined;
  stdin?: Uint8Array | string | undefined;
  /** Limit in guest milliseconds after which the whole process group and cgroup is killed. */
  timeoutMs?: number | undefined;
  /** Bytes kept of each of stdout and stderr; the rest is counted and dropped. */
  maxOutputBytes?: number | undefined;
}

export interface ExecResult {
  /** Exit code, or null if a signal ended it. */
  exitCode: number | null;
  signal: number | null;
  timedOut: boolean;
  /** True if the guest's out-of-memory killer hit the workload during the command. */
  oomKilled: boolean;
  stdout: Uint8Array;
  stderr: Uint8Array;
  /** Bytes dropped beyond `maxOutputBytes`. */
  stdoutDropped: number;
  stderrDropped: number;
  /** Guest time used, in milliseconds. */
  guestMs: number;
}

/** A command whose output arrives while it runs and that can be written to. */
export interface ExecStream {
  onOutput(listener: (channel: "stdout" | "stderr", chunk: Uint8Array) => void): void;
  /**
   * Writes to standard input; after the command's end there is nobody to write to. False once so much waits for the command to
   * read it that the writer should wait for `onDrain`; what was written is kept all the same.
   */
  write(data: Uint8Array): boolean;
  /** Called each time that enough of what waited has been read after `write` was false. */
  onDrain(listener: () => void): void;
  /** Closes standard input. */
  end(): void;
  /** New size of the terminal, when one was asked for. */
  resize(columns: number, rows: number): void;
  kill(): void;
  /** Settles when the command has ended; output was delivered to the listener. */
  readonly done: Promise<ExecResult>;
}

export interface StreamOptions {
  /** A pseudo-terminal of this size instead of pipes. */
  terminal?: { columns: number; rows: number } | undefined;
}

/** What a dialogue's program answered. */
export interface DialogueReply {
  /** Output up to the marker, at most `maxOutputBytes`. */
  output: Uint8Array;
  /** Bytes dropped beyond the limit. */
  dropped: number;
  /** `matched`: the marker was printed; `ended`: the program has ended; `timeout`: the guest time ran out. */
  reason: "matched" | "ended" | "timeout";
  /** The rest of the marker's line (an exit code, say), if matched. */
  line: string;
}

/**
 * A program that stays open between requests while the machine is parked: the ground of a shell session. Its
 * standard error goes into its standard output; its output is read only while `ask` runs.
 */
export interface Dialogue {
  /**
   * Writes `input` and lets the machine run until the program prints `marker` (2 to 64 characters, of which the
   * first occurs only once), ends, or `timeoutMs` of guest time have passed.
   */
  ask(
    input: Uint8Array | string,
    options: { marker: string; timeoutMs?: number | undefined; maxOutputBytes?: number | undefined },
  ): Promise<DialogueReply>;
  /** Sends a signal to the program's process group (2 interrupts a shell's command). */
  signal(number: number): Promise<void>;
  /** True once the program has ended; a dialogue that timed out goes on. */
  readonly ended: boolean;
  /** Kills it and all it started. Idempotent. */
  close(): Promise<void>;
}

export type FileType = "file" | "directory" | "symlink" | "fifo" | "socket" | "char" | "block";

export interface FileStat {
  path: string;
  type: FileType;
  size: number;
  /** Permission bits, e.g. 0o644. */
  mode: number;
  uid: number;
  gid: number;
  /** Seconds since the epoch in guest time. */
  mtime: number;
  /** Target, if a symbolic link. */
  target?: string | undefined;
}

export interface ProcessInfo {
  pid: number;
  ppid: number;
  uid: number;
  /** Single letter of /proc/PID/stat. */
  state: string;
  name: string;
  argv: string[];
}

/** What lies at a path, and with it what a small file holds. */
export interface Look {
  stat: FileStat;
  /** All of a regular file, unless it is too large to come along. */
  bytes?: Uint8Array | undefined;
}

export interface ReadOptions {
  offset?: number | undefined;
  /** Bytes to return at the most; reading beyond it is not an error. */
  limit?: number | undefined;
  /** Read with this user's rights; root if unsaid. */
  user?: string | undefined;
}

export interface WriteOptions {
  mode?: number | undefined;
  /** Owner, and the rights with which the file is made; `agent` if unsaid. */
  user?: string | undefined;
  append?: boolean | undefined;
  /** Make missing parent folders (owned by `user`); true if unsaid. */
  parents?: boolean | undefined;
}

/** The kinds of fork of a running machine; replicas come from a golden. */
export type ForkKind = "branch" | "grade";

/** A time of the wall clock, since the epoch. */
export interface WallClock {
  seconds: number;
  /** 0 to 999,999,999. */
  nanoseconds: number;
}

export interface ForkOptions {
  /**
   * 32-byte seed: everything random derives from it, and the clock goes on. A function is asked for seeds until one gives an address
   * that no sibling has: so a caller knows the seed of a machine that is as unique as an unseeded one. Unsaid: the host's CSPRNG
   * and clock.
   */
  seed?: Uint8Array | (() => Uint8Array) | undefined;
  /**
   * Of a replica or a branch: exactly this is its wall clock at its first instruction, whatever the host's is; `now`: the host's, at
   * the moment of its turn.
   */
  clock?: WallClock | "now" | undefined;
  /**
   * Of a grade fork: what it may use, together with the other forks that are given the same. A request that comes to its end is
   * stopped there, and rejects, as all later ones do, with `machine_timeout`. Unsaid: no bound but the requests' own.
   */
  budget?: MachineBudget | undefined;
  /** Of a replica or a branch: it keeps checkpoints. */
  checkpoints?: CheckpointOptions | undefined;
}

export interface CheckpointOptions {
  /** What they may hold beside the golden and the machine, as of the newest; the oldest are dropped for it. */
  budgetBytes: number;
}

/** A machine's state after a step, of which branches can be made. */
export interface Checkpoint {
  step: number;
  /** As `digest` told at that moment. */
  digest: string;
  /** Pages that hold other bytes than in the checkpoint before it; than in the golden, for the first. */
  deltaPages: number;
  deltaBytes: number;
  /** Since power-on, as in the stats. */
  instructions: number;
  guestMs: number;
}

/** A machine's state in a file, as it was written. */
export interface SavedState {
  /** As `digest` told at that moment. */
  digest: string;
  /** That hold other bytes than the golden's. */
  pages: number;
  /** Of the file. */
  bytes: number;
}

/** In what two machines' states differ. */
export interface StateDifference {
  equal: boolean;
  /** Of the hart: `pc`, `x1`, `f0`, control registers by their names, counters. */
  registers: { name: string; one: bigint; other: bigint }[];
  /** By name: `console`, `disk0`, `net`, `events`, ... */
  devices: string[];
  /** Of guest memory, that hold other bytes, and the numbers of the first 16 of them. */
  pages: number;
  firstPages: number[];
}

/** What a machine keeps of its past. */
export interface CheckpointList {
  budgetBytes: number;
  /** What they keep alive beside the golden and the machine, as of the newest, which is kept whatever it needs. */
  heldBytes: number;
  taken: number;
  /** For want of budget: the oldest that no living branch was made of. */
  dropped: number;
  /** By step. */
  checkpoints: Checkpoint[];
}

/** By which the other machines on a switch reach a machine. */
export interface NetworkAddress {
  /** Six hex pairs with colons. */
  mac: string;
  /** IPv4 address, in 10.0.0.0/8 as all machines. */
  ip: string;
}

/** Frames of a network card since its machine was made or forked; bytes without anything around the frames. */
export interface NetworkStats {
  /** Taken by a switch. */
  sentFrames: number;
  sentBytes: number;
  /** Sent by the guest for nowhere: nothing is behind a card but what it was joined with. */
  droppedFrames: number;
  droppedBytes: number;
  receivedFrames: number;
  receivedBytes: number;
  /** Arrived while the link was down, too long, or without room to wait. */
  refusedFrames: number;
}

/** Machines on one switch. */
export interface Network {
  readonly members: readonly Sandbox[];
  /** Takes them apart; they live on, each by itself. Idempotent. */
  close(): Promise<void>;
}

export interface SandboxStats {
  /** Instructions retired since power-on. */
  instructions: number;
  /** Guest time since power-on, milliseconds. */
  guestMs: number;
  /** Bytes of guest memory that this machine alone owns. */
  privateBytes: number;
  memoryBytes: number;
  /** Undefined where the provider counts nothing. */
  network?: NetworkStats | undefined;
}

/** One machine. Calls on it are serialised in the order they are made. */
export interface Sandbox {
  readonly id: string;
  /** Milliseconds from the start of the fork to its acknowledged uniqueness; null for the first boot. */
  readonly readyMs: number | null;
  readonly closed: boolean;
  /** The wall clock that it was told when it was forked; null if its clock went on. Absent where a provider sets none. */
  readonly clock?: WallClock | null;
  /** Of its network card; null without one. */
  readonly address?: NetworkAddress | null;
  /** Machines on its switch, by the names under which it finds them. Absent where it is alone. */
  readonly services?: ReadonlyMap<string, Sandbox>;
  exec(request: ExecRequest): Promise<ExecResult>;
  stream(request: ExecRequest, options?: StreamOptions): ExecStream;
  /** Opens a program to talk with over many requests; `stdin`, `timeoutMs` and `maxOutputBytes` of `request` have no meaning here. */
  dialogue(request: ExecRequest): Promise<Dialogue>;
  readFile(path: string, options?: ReadOptions): Promise<Uint8Array>;
  writeFile(path: string, data: Uint8Array | string, options?: WriteOptions): Promise<void>;
  /** Does not follow a final symbolic link. Rejects with `guest_error` and errno ENOENT in `message` if absent. */
  stat(path: string): Promise<FileStat>;
  /** As `stat`, but null where nothing is. */
  statIfExists(path: string): Promise<FileStat | null>;
  /** Entries of a folder, sorted by name; at most `limit` (default 10,000). */
  list(path: string, limit?: number): Promise<FileStat[]>;
  /** SHA-256 in hex of a regular file; `too_large` for one of more than `limit` bytes. */
  hash(path: string, limit?: number): Promise<string>;
  processes(): Promise<ProcessInfo[]>;
  /**
   * Of a grade fork: whether its workload goes on during requests from here on. It stands still unless said. Absent where nothing is
   * ever stopped; does nothing for other machines.
   */
  workload?(state: "goes on" | "stands still"): Promise<void>;
  /**
   * `statIfExists` and `readFile` in one, at a bit more than half the cost: what lies at the path itself (a final link is not followed),
   * or null. Absent where nothing is saved by it.
   */
  look?(path: string): Promise<Look | null>;
  /** Of `processes`, those that have a command line, at a third of the cost. Absent where nothing is saved by it. */
  commandLines?(): Promise<Pick<ProcessInfo, "pid" | "argv">[]>;
  /** Lets guest time pass, in guest milliseconds. */
  wait(ms: number): Promise<void>;
  fork(kind: ForkKind, options?: ForkOptions): Promise<Sandbox>;
  /**
   * Keeps the present state as that after `step`, higher than any before; costs the pages that changed. `ownerBytes`: what its
   * owner keeps with it, which counts. Gives the checkpoint, and the steps whose own were dropped for it. Only for a machine forked
   * with `checkpoints`; these three are absent where a provider keeps none.
   */
  checkpoint?(step: number, ownerBytes?: number): Promise<Checkpoint & { dropped: number[] }>;
  checkpoints?(): CheckpointList;
  /** A branch of the state after `step`. Rejects with `checkpoint_missing`, which names the steps that are kept. */
  forkAt?(step: number, options?: ForkOptions): Promise<Sandbox>;
  /**
   * Writes the present state, or that after a kept step, as its difference from the golden that the machine descends from; that
   * golden's `openState` makes the machine again. Not of grade forks. Absent where a provider cannot.
   */
  saveState?(path: string, options?: { step?: number }): Promise<SavedState>;
  /** In what another machine's state differs from this one's; for whoever has to find out why digests do. */
  difference?(other: Sandbox): Promise<StateDifference>;
  /** Freezes the state into a golden; the machine itself goes on. */
  freeze(key: GoldenKey): Promise<Golden>;
  /** Digest of registers, devices and memory; equal digests mean bit-identical machines. */
  digest(): Promise<string>;
  /** After `close`: the last figures, with no private bytes. */
  stats(): SandboxStats;
  /**
   * Makes the request that runs now reject with `cancelled`; what it runs in the guest is killed before the next request, and the
   * machine stays of use. Nothing happens if none runs.
   */
  cancel(): void;
  /** Idempotent; frees everything the machine owns. */
  close(): Promise<void>;
}

/** What a golden is made from, in a task's words: the same on every host. `setupDigest` is empty where nothing is done to the image's machine. */
export interface GoldenOrigin {
  /** By its name. */
  image: string;
  memoryMiB: number;
  setupDigest: string;
}

/** What a golden was made from; its digest is the cache key. */
export interface GoldenKey {
  image: string;
  /** Digest of the task's setup (empty for the bare image). */
  setup: string;
  seed: string;
  memoryMiB: number;
}

/** A frozen state, the parent of replicas. Immutable. */
export interface Golden {
  readonly digest: string;
  /** Digest of the image that it was booted from. Absent where there is none. */
  readonly image?: string | undefined;
  readonly memoryBytes: number;
  fork(options?: ForkOptions): Promise<Sandbox>;
  /**
   * The machine that `saveState` wrote, to the bit, at rest; also one of another process. Rejects with `golden_invalid` for a file
   * that is damaged, or stands on another golden. `checkpoints`: it keeps them.
   */
  openState?(path: string, options?: { checkpoints?: CheckpointOptions }): Promise<Sandbox>;
  /** Drops this reference; pages live on while forks use them. Idempotent. */
  close(): void;
}

/** Makes machines from images. */
export interface SandboxProvider {
  readonly name: string;
  /** Of two with the same one, equal goldens, seeds and requests give equal states. Absent where nothing is repeatable. */
  readonly machineAbi?: number;
  /** Throws `image_missing` for an image that cannot be booted. Absent where every name will do. */
  checkImage?(image: string): void;
  /** The ready golden of an image: from the cache folder if it is there, else booted, warmed, saved. */
  imageGolden(
    image: string,
    options?: { memoryMiB?: number; onProgress?: (line: string) => void },
  ): Promise<Golden>;
  /** A golden after `setup` ran in a fork of the image's golden; cached on disk under its key. */
  setupGolden(
    image: string,
    setupDigest: string,
    setup: (sandbox: Sandbox) => Promise<void>,
    options?: { memoryMiB?: number },
  ): Promise<Golden>;
  /**
   * Puts 2 to 16 machines on a switch. From here on they stand at one guest time: a request to one takes the others along, and
   * requests to any of them are served one after the other, in the order in which they were made. Forks of them are not joined.
   * Absent where a provider has no networks.
   */
  join?(sandboxes: readonly Sandbox[]): Promise<Network>;
  /** Machines that are open now; tests count them. */
  openMachines(): number;
  close(): Promise<void>;
}
