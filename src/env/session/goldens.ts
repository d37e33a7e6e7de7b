import { ShinkenError } from "../../errors/index.js";
import type { Golden, SandboxProvider } from "../../sandbox/sandbox.js";
import { prepareMachine } from "../setup/prepare.js";
import type { TaskVariant } from "../task/index.js";

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
  forVariant(variant: TaskVariant): Promise<GoldenLease> {
    const { image, memory_mib: memoryMiB, setup, ready } = variant.task;
    if (setup.length === 0 && ready.length === 0) return this.forImage(image, memoryMiB);
    return this.#lease(`setup ${variant.setupDigest}`, () =>
      this.#provider.setupGolden(image, variant.setupDigest, (machine) => prepareMachine(machine, variant), {
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
