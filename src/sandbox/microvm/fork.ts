/** The three kinds of fork: replicas of a golden, branches and grade forks of a machine. */
import { randomBytes } from "node:crypto";
import { ShinkenError } from "../../errors/index.js";
import { type ForkPacket, GuestError, RepeatedError } from "../agent/index.js";
import { hostClock } from "../clock.js";
import type { MachineBudget } from "../budget.js";
import type { CheckpointOptions, WallClock } from "../sandbox.js";
import type { MemoryKind, NativeGolden, NativeMachine } from "./addon.js";
import { FORK_BYTES } from "./admission.js";
import type { Descent, Family, ForkFailure } from "./family.js";
import { drawIdentity, type ForkIdentity, macBytes } from "./identity.js";
import { MicrovmSandbox } from "./sandbox.js";
import { nativeError } from "./transport.js";

/**
 * Guest time within which the agent must have acknowledged, and so also a bound of instructions. Its own steps need less than a
 * thousandth of it, the hooks of an image at most eight seconds.
 */
const UNIQUE_GUEST_MS = 10_000;

export interface ForkSource {
  native: NativeGolden;
  family: Family;
  /** Stream number at which the golden's agent stood. */
  nextStream: number;
}

type Seed = Uint8Array | (() => Uint8Array) | null;
type Clock = WallClock | "now" | undefined;

export interface ReplicaOptions {
  seed: Seed;
  /** Unsaid: the host's, or with a seed the golden's, going on. */
  clock?: Clock;
  checkpoints?: CheckpointOptions | undefined;
}

/**
 * A new machine from a golden, ready and unique.
 * @throws ShinkenError `fork_failed` if it did not acknowledge its uniqueness; it is closed then. `out_of_memory`, also for the
 * other kinds of fork: the host has no memory for another machine. `bad_request`: a `clock` that is no time.
 */
export async function replicaOf(source: ForkSource, options: ReplicaOptions): Promise<MicrovmSandbox> {
  checkClock(options.clock);
  return admitted(source.family, "ordinary", () => makeReplica(source, options));
}

export interface BranchOptions {
  seed: Seed;
  /** Unsaid: the parent's, going on. */
  clock?: Clock;
  checkpoints?: CheckpointOptions | undefined;
  /** Of its state after this step, by the checkpoint, instead of the present one. */
  atStep?: number | undefined;
}

/** A copy of a machine that goes its own way: reseeded and renamed, its clock continues unless one is given. */
export async function branchOf(parent: MicrovmSandbox, options: BranchOptions): Promise<MicrovmSandbox> {
  checkClock(options.clock);
  return admitted(parent.family, "ordinary", () => makeBranch(parent, options));
}

/** A bit-identical copy for checks; nothing in it has run when it is handed out. `budget`: what it may use. */
export function gradeForkOf(parent: MicrovmSandbox, budget?: MachineBudget): Promise<MicrovmSandbox> {
  return admitted(parent.family, "grade", () => makeGradeFork(parent, budget));
}

export function admitted<T>(
  { household }: Family,
  kind: "ordinary" | "grade",
  make: () => Promise<T>,
): Promise<T> {
  return household.admission.during(kind, FORK_BYTES, make);
}

/** Seconds up to the year 9999. */
const MAX_SECONDS = 253_402_300_799;

function checkClock(clock: Clock): void {
  if (clock === undefined || clock === "now") return;
  checkWhole("clock.seconds", clock.seconds, MAX_SECONDS);
  checkWhole("clock.nanoseconds", clock.nanoseconds, 999_999_999);
}

function checkWhole(path: string, value: number, most: number): void {
  if (Number.isInteger(value) && value >= 0 && value <= most) return;
  throw new ShinkenError("bad_request", `${path} must be a whole number from 0 to ${most}`, { path });
}

async function makeReplica(
  source: ForkSource,
  { seed: given, clock, checkpoints }: ReplicaOptions,
): Promise<MicrovmSandbox> {
  const start = performance.now();
  const { identity, seed } = identityFor(source.family, given, "replica");
  const native = hostFork(source.native, identity, source.family.household.memory, checkpoints);
  // A seeded run continues at the golden's time; an unseeded machine wakes up in the present.
  const packet = (): ForkPacket => packetOf(identity, clock ?? (seed === null ? "now" : undefined));
  const descent: Descent = { kind: "replica", seed: identity.childSeed };
  return ready(
    native,
    source.family,
    descent,
    source.nextStream,
    { identity, packet, path: "replica", seed },
    start,
  );
}

/** The host's share of a fork: the machine exists, and has not run. */
export function hostFork(
  golden: NativeGolden,
  { generationId, mac }: Pick<ForkIdentity, "generationId" | "mac">,
  memory: MemoryKind,
  checkpoints?: CheckpointOptions,
): NativeMachine {
  try {
    return golden.fork({ generationId, mac: macBytes(mac), memory, ...logOf(checkpoints) });
  } catch (error) {
    throw nativeError(error);
  }
}

export function logOf(checkpoints: CheckpointOptions | undefined): { checkpointBytes?: number } {
  return checkpoints === undefined ? {} : { checkpointBytes: checkpoints.budgetBytes };
}

async function makeBranch(parent: MicrovmSandbox, options: BranchOptions): Promise<MicrovmSandbox> {
  const { seed, clock, checkpoints, atStep } = options;
  const start = performance.now();
  parent.branches += 1;
  // Without a seed of its own, a branch of a seeded machine derives one: the run stays repeatable.
  const path = seed === null ? `branch/${parent.branches}` : "branch";
  const { identity, seed: root } = identityFor(parent.family, seed ?? parent.descent.seed, path);
  const { generationId } = identity;
  const how = { kind: "branch", generationId, mac: macBytes(identity.mac), ...logOf(checkpoints) } as const;
  const native =
    atStep === undefined ? await parent.native.fork(how) : await parent.native.forkAt({ step: atStep }, how);
  const packet = (): ForkPacket => packetOf(identity, clock);
  const descent: Descent = { kind: "branch", seed: identity.childSeed };
  return ready(
    native,
    parent.family,
    descent,
    parent.nextStreamAt(atStep),
    { identity, packet, path, seed: root },
    start,
  );
}

/** An identity and its seed; where the seed is not the caller's choice, one whose IP address no sibling has. */
function identityFor(
  family: Family,
  given: Seed,
  path: string,
): { identity: ForkIdentity; seed: Uint8Array | null } {
  for (;;) {
    const seed = typeof given === "function" ? given() : given;
    const identity = drawIdentity(seed, path);
    if (family.siblings.claim(identity.ip) || given instanceof Uint8Array) return { identity, seed };
  }
}

async function makeGradeFork(parent: MicrovmSandbox, budget?: MachineBudget): Promise<MicrovmSandbox> {
  const start = performance.now();
  const native = await parent.native.fork({ kind: "grade" });
  const { family } = parent;
  const sandbox = new MicrovmSandbox({
    id: `grade-${randomBytes(4).toString("hex")}`,
    native,
    family,
    descent: { kind: "grade", seed: parent.descent.seed },
    // Only a grade fork's own port counts; its parent, if it is one as well, is in the middle of it.
    firstStream: parent.descent.kind === "grade" ? parent.agent.nextStream : 1,
    budget,
    address: parent.address,
  });
  await refuseIfClosed(sandbox);
  sandbox.readyMs = performance.now() - start;
  return sandbox;
}

interface Uniqueness {
  identity: ForkIdentity;
  /** Called when the machine is about to run: the time in it is then. */
  packet: () => ForkPacket;
  path: string;
  seed: Uint8Array | null;
}

async function ready(
  native: NativeMachine,
  family: Family,
  descent: Descent,
  firstStream: number,
  { identity, packet, path, seed }: Uniqueness,
  start: number,
): Promise<MicrovmSandbox> {
  const { hostname: id, mac, ip } = identity;
  const address = { mac, ip };
  const sandbox = new MicrovmSandbox({ id, native, family, descent, firstStream, address });
  try {
    await refuseIfClosed(sandbox);
    // Of a thousand forks asked for at once each gets the time of its own turn, not of the asking.
    const { sample, network } = await family.household.arrivals.pass(() => {
      const told = packet();
      sandbox.clock = told.clock ?? null;
      return sandbox.agent.uniqueness(told, {
        maxGuestMs: UNIQUE_GUEST_MS,
        wallMs: family.household.readyMs,
      });
    });
    if (!family.siblings.admit(sample, seed, path)) {
      throw new RepeatedError("the fork shows the same random numbers as a sibling");
    }
    if (network === "absent") sandbox.address = null;
    sandbox.readyMs = performance.now() - start;
    return sandbox;
  } catch (cause) {
    await sandbox.close();
    if (!family.household.closed) family.household.killed[reasonOf(cause)] += 1;
    if (cause instanceof ShinkenError && (cause.code === "fork_failed" || cause.code === "machine_closed"))
      throw cause;
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new ShinkenError("fork_failed", `the fork was killed, since it did not become unique: ${message}`, {
      cause,
    });
  }
}

function reasonOf(cause: unknown): ForkFailure {
  if (!(cause instanceof ShinkenError)) return "other";
  if (cause.cause instanceof GuestError) return "refused";
  if (cause instanceof RepeatedError || cause.code === "agent_protocol") return "repeated";
  if (cause.code === "machine_timeout") return "lost";
  return cause.code === "machine_died" ? "died" : "other";
}

export async function refuseIfClosed(sandbox: MicrovmSandbox): Promise<void> {
  if (!sandbox.family.household.closed) return;
  await sandbox.close();
  throw new ShinkenError("machine_closed", "the provider was closed");
}

function packetOf(identity: ForkIdentity, clock: Clock): ForkPacket {
  const { generation, entropy, hostname, machineId, bootId, mac, ip } = identity;
  const told = clock === "now" ? hostClock() : clock;
  return { generation, entropy, hostname, machineId, bootId, mac, ip, clock: told };
}
