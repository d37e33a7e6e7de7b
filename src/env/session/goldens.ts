import { ShinkenError } from "../../errors/index.js";
import type { Golden, GoldenOrigin, SandboxProvider } from "../../sandbox/sandbox.js";
import { EnsembleGolden } from "../services/golden.js";
import { prepareMachine } from "../setup/prepare.js";
import type { TaskVariant } from "../task/index.js";
import { setupDigestOf } from "../task/load.js";
import type { ServiceSpec } from "../task/schema.js";

/** The goldens that a variant's episodes are forked from: its own machine's, and one for each service. */
export function goldenOrigins(variant: TaskVariant): GoldenOrigin[] {
  const services = variant.task.services.map((service) => variantOfService(variant, service));
  return [variant, ...services].map(originOf);
}

function originOf({ task, setupDigest }: TaskVariant): GoldenOrigin {
  const bare = task.setup.length === 0 && task.ready.length === 0;
  return { image: task.image, memoryMiB: task.memory_mib, setupDigest: bare ? "" : setupDigest };
}

/** A golden in use. Whoever got it releases it once. */
export interface GoldenLease {
  readonly golden: Golden;
  release(): void;
}

interface Entry {
  readonly golden: Promise<Golden>;
  users: number;
}

/** Goldens that nobody uses and that are kept all the same, for the next session. */
const defaultIdle = 32;

/**
 * The goldens of this process: one for each image and for each setup with its parameters, made once however many
 * sessions ask at the same time, counted, and closed when unused ones exceed the bound (the longest unused first).
 */
export class GoldenStore {
  readonly #provider: SandboxProvider;
  readonly #maxIdle: number;
  /** In order of last use, oldest first. */
  readonly #entries = new Map<string, Entry>();
  #closed = false;

  constructor(provider: SandboxProvider, options: { maxIdle?: number } = {}) {
    this.#provider = provider;
    this.#maxIdle = options.maxIdle ?? defaultIdle;
  }

  /** The golden in which a variant's episodes begin. Rejects with `setup_failed` and is then tried anew next time. */
  async forVariant(variant: TaskVariant): Promise<GoldenLease> {
    const { services } = variant.task;
    if (services.length === 0) return this.#forMachine(variant);
    const join = this.#provider.join?.bind(this.#provider);
    if (join === undefined)
      throw new ShinkenError("host_unsupported", "the machines of this provider cannot be joined");
    const leases = await allLeases([
      this.#forMachine(variant),
      ...services.map((service, index) =>
        this.#forMachine(variantOfService(variant, service), `services[${index}].`),
      ),
    ]);
    const [main, ...others] = leases as [GoldenLease, ...GoldenLease[]];
    const goldens = new Map(services.map(({ name }, index) => [name, (others[index] as GoldenLease).golden]));
    return {
      golden: new EnsembleGolden(main.golden, goldens, join),
      release: () => {
        for (const lease of leases) lease.release();
      },
    };
  }

  /** `place`: path that stands before the setup's own in messages. */
  #forMachine(variant: TaskVariant, place = ""): Promise<GoldenLease> {
    const { image, memoryMiB, setupDigest } = originOf(variant);
    if (setupDigest === "") return this.forImage(image, memoryMiB);
    return this.#lease(`setup ${setupDigest}`, () =>
      this.#provider.setupGolden(image, setupDigest, (machine) => prepareMachine(machine, variant, place), {
        memoryMiB,
      }),
    );
  }

  /** The golden of a bare image. */
  forImage(image: string, memoryMiB?: number): Promise<GoldenLease> {
    return this.#lease(`image ${image} ${memoryMiB ?? ""}`, () =>
      this.#provider.imageGolden(image, memoryMiB === undefined ? {} : { memoryMiB }),
    );
  }

  /** Closes what is unused now, and the rest as it is released. */
  close(): void {
    this.#closed = true;
    this.#trim();
  }

  async #lease(key: string, make: () => Promise<Golden>): Promise<GoldenLease> {
    if (this.#closed) throw new ShinkenError("machine_closed", "the goldens were closed");
    const entry = this.#entries.get(key) ?? { golden: make(), users: 0 };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    entry.users += 1;
    let golden: Golden;
    try {
      golden = await entry.golden;
    } catch (error) {
      entry.users -= 1;
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
      throw error;
    }
    let released = false;
    const release = () => {
      if (released) return;
      released = true;
      entry.users -= 1;
      this.#trim();
    };
    return { golden, release };
  }

  #trim(): void {
    const idle = [...this.#entries].filter(([, entry]) => entry.users === 0);
    const surplus = idle.length - (this.#closed ? 0 : this.#maxIdle);
    for (const [key, entry] of idle.slice(0, Math.max(0, surplus))) {
      this.#entries.delete(key);
      entry.golden.then((golden) => golden.close()).catch(() => undefined);
    }
  }
}

/** All leases, or none: what was leased before one failed is released. */
async function allLeases(asked: Promise<GoldenLease>[]): Promise<GoldenLease[]> {
  const settled = await Promise.allSettled(asked);
  const leases = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const failed = settled.find((one) => one.status === "rejected");
  if (failed === undefined) return leases;
  for (const lease of leases) lease.release();
  throw failed.reason;
}

/** The variant as a service's machine is set up from it. */
function variantOfService(variant: TaskVariant, service: ServiceSpec): TaskVariant {
  const task = { ...variant.task, ...service };
  return { ...variant, task, setupDigest: setupDigestOf(variant.task, service) };
}
