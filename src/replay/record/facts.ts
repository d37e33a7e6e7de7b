/** What a bundle says of where its episode began. */
import { arch, cpus, platform, release } from "node:os";
import type { EnvironmentOptions } from "../../env/checkpoints.js";
import type { Environment } from "../../env/environment.js";
import type { SessionFacts } from "../format/channels.js";
import { sknVersion } from "../format/version.js";

/** What the server knows and sessions do not. */
export interface RecordedFacts {
  /** Name of what makes the machines. */
  provider: string | null;
  /** Machines of another one do not repeat an episode. */
  machineAbi: number | null;
  memory: string | null;
  /** Digest of the task set. */
  taskSet: string | null;
}

export const noFacts: RecordedFacts = { provider: null, machineAbi: null, memory: null, taskSet: null };

/** The part of the session event that is known of the environment. */
export function sessionFacts(
  environment: Environment,
  options: EnvironmentOptions,
  facts: RecordedFacts,
): Omit<SessionFacts, "episode" | "parent" | "runtime" | "host"> {
  const origin = environment.provenance?.();
  const machine = origin === undefined ? { ...noFacts, taskSet: facts.taskSet } : facts;
  return {
    skn: sknVersion,
    task: environment.task,
    task_version: origin?.taskVersion ?? "",
    verifier: origin?.verifierVersion ?? null,
    task_set: machine.taskSet,
    variant: origin?.variant ?? null,
    params: origin?.params ?? {},
    seed: origin?.seed ?? null,
    image: origin?.image ?? null,
    ...(origin?.imageDigest === undefined ? {} : { image_digest: origin.imageDigest }),
    golden: origin?.golden ?? null,
    machine_abi: machine.machineAbi,
    provider: machine.provider,
    memory: machine.memory,
    fork: origin?.fork ?? null,
    ...(origin?.use === undefined ? {} : { use: origin.use }),
    ...(origin?.granted === undefined ? {} : { granted: [...origin.granted] }),
    labels: { ...options.labels },
  };
}

let host: Record<string, unknown> | null = null;

/** Facts of the host that may explain a difference. */
export function hostFacts(): Record<string, unknown> {
  host ??= {
    platform: platform(),
    arch: arch(),
    kernel: release(),
    processors: cpus().length,
    processor: cpus()[0]?.model ?? null,
    node: process.version,
  };
  return host;
}
