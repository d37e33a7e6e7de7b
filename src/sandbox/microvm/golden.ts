/** Goldens: one native object with any number of handles, and how a machine becomes one. */
import { ShinkenError } from "../../errors/index.js";
import type { CheckpointOptions, ForkOptions, Golden, GoldenKey, Sandbox } from "../sandbox.js";
import { loadAddon, type NativeGolden } from "./addon.js";
import type { Family } from "./family.js";
import { replicaOf } from "./fork.js";
import { goldenDigest } from "./golden-store.js";
import type { MicrovmSandbox } from "./sandbox.js";
import { openState } from "./state.js";
import { nativeError } from "./transport.js";

/** The native golden, shared by handles and closed with the last. */
export class SharedGolden {
  readonly digest: string;
  readonly native: NativeGolden;
  readonly family: Family;
  readonly nextStream: number;
  readonly memoryBytes: number;
  /** Bytes of pages that are not all zeros. */
  readonly storedBytes: number;
  #handles = 0;
  readonly #onLast: () => void;

  constructor(
    digest: string,
    native: NativeGolden,
    family: Family,
    nextStream: number,
    onLast = (): void => undefined,
  ) {
    const facts = native.facts();
    this.digest = digest;
    this.native = native;
    this.family = family;
    this.nextStream = nextStream;
    this.memoryBytes = facts.memoryBytes;
    this.storedBytes = facts.storedPages * 4096;
    this.#onLast = onLast;
  }

  /** True once the last handle was closed: nobody may take another. */
  get closed(): boolean {
    return this.native.closed;
  }

  handle(): MicrovmGolden {
    this.#handles += 1;
    return new MicrovmGolden(this);
  }

  /** Called by a handle that closes. With the last one its owner is told, who may look at the native golden once more. */
  release(): void {
    this.#handles -= 1;
    if (this.#handles > 0) return;
    this.#onLast();
    this.native.close();
  }
}

/** One holder's reference to a golden. */
export class MicrovmGolden implements Golden {
  readonly shared: SharedGolden;
  #closed = false;

  constructor(shared: SharedGolden) {
    this.shared = shared;
  }

  get digest(): string {
    return this.shared.digest;
  }

  get image(): string {
    return this.shared.family.image;
  }

  get memoryBytes(): number {
    return this.shared.memoryBytes;
  }

  async fork(options: ForkOptions = {}): Promise<Sandbox> {
    if (this.#closed) throw new ShinkenError("machine_closed", "the golden was closed");
    const { seed = null, clock, checkpoints } = options;
    return replicaOf(this.shared, { seed, clock, checkpoints });
  }

  async openState(path: string, options: { checkpoints?: CheckpointOptions } = {}): Promise<Sandbox> {
    if (this.#closed) throw new ShinkenError("machine_closed", "the golden was closed");
    return openState(this.shared, path, options.checkpoints);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.shared.release();
  }
}

/**
 * Freezes a machine between two requests; once that has begun it goes on, while the golden is finished. The golden lives in memory
 * until its last handle closes.
 */
export async function freezeMachine(
  sandbox: MicrovmSandbox,
  key: GoldenKey,
): Promise<{ golden: Promise<MicrovmGolden> }> {
  const digest = goldenDigest({ ...key, recipe: "freeze" }, loadAddon().machineAbi);
  const { family } = sandbox;
  const { nextStream } = sandbox.agent;
  const { golden } = await sandbox.native.snapshot();
  const finished = async (): Promise<MicrovmGolden> => {
    try {
      return new SharedGolden(digest, await golden, family, nextStream).handle();
    } catch (cause) {
      throw nativeError(cause);
    }
  };
  return { golden: finished() };
}
