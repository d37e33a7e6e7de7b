/** The `microvm` provider: machines on the software hart, from images in the cache folder. */
import { createHash, randomBytes } from "node:crypto";
import { availableParallelism } from "node:os";
import { ShinkenError } from "../../errors/index.js";
// Not by the room's index: that loads what builds images, which no fork needs.
import { cacheLayout } from "../../images/cache/folder.js";
import { openImage } from "../../images/cache/images.js";
import type { ImageInfo } from "../../images/types.js";
import type { MemoryBound } from "../host-memory.js";
import type { Golden, GoldenKey, Network, Sandbox, SandboxProvider } from "../sandbox.js";
import { type MemoryKind, type NativeGolden, type NativeMachine, loadAddon } from "./addon.js";
import { Admission, BOOT_BYTES } from "./admission.js";
import { bootImage, disksOf, settle } from "./boot.js";
import type { Family, ForkFailure, Household } from "./family.js";
import { hostFork, replicaOf } from "./fork.js";
import { Gate } from "./gate.js";
import { macBytes } from "./identity.js";
import { MicrovmGolden, SharedGolden } from "./golden.js";
import { fileKeyOf } from "./golden-key.js";
import { type GoldenNote, noteOf } from "./golden-note.js";
import { GoldenStore } from "./golden-store.js";
import { MicrovmNetwork } from "./network.js";
import { MicrovmSandbox } from "./sandbox.js";
import { Siblings } from "./siblings.js";
import type { DefaultLimits } from "./transport.js";
import { CODE_RECIPE, type WarmDepth, warmCode } from "./warm.js";

export interface MicrovmOptions {
  /** Folder of images and goldens; as `cacheLayout` says if unsaid. */
  cacheDir?: string | undefined;
  /** MiB of guest memory if a golden does not say. */
  memoryMiB?: number | undefined;
  /** Guest memory of its machines; as SHINKEN_MEMORY says, else `soft`. Guests and digests do not depend on it. */
  memory?: MemoryKind | undefined;
  /** How much code a golden decodes for its forks before it is handed out; `quick` if unsaid. */
  warm?: WarmDepth | undefined;
  /** Host milliseconds that a fork has to become ready. */
  readyMs?: number | undefined;
  /** Bounds of a request that does not bring its own. */
  limits?: Partial<DefaultLimits> | undefined;
  /** Share of the host's and the control group's memory that may be in use once a machine has been made; 0.9 if unsaid. */
  memoryShare?: number | undefined;
  /** What to go by instead of the host's own figures. */
  memoryBounds?: (() => MemoryBound[]) | undefined;
  /** Console output of machines that boot. */
  onConsole?: ((bytes: Uint8Array) => void) | undefined;
}

const DEFAULT_MEMORY_MIB = 512;
const DEFAULT_LIMITS: DefaultLimits = { maxGuestMs: 3_600_000, wallMs: 600_000 };
const DEFAULT_READY_MS = 60_000;
/** Forks that become unique at once, for each thread of the engine, which has one a processor: two keep it busy. */
const ARRIVALS_PER_THREAD = 2;

export class MicrovmProvider implements SandboxProvider {
  readonly name = "microvm";
  readonly #options: MicrovmOptions;
  readonly #store: GoldenStore;
  readonly #machines = new Set<{ close(): Promise<void> }>();
  /** Goldens by key, also those still being made: callers of one key share one build. */
  readonly #goldens = new Map<string, Promise<SharedGolden>>();
  /** Handles of the provider itself on image goldens, so that task after task need not load them again. */
  readonly #kept = new Map<string, MicrovmGolden>();
  readonly #admission: Admission;
  /** Work that only makes later forks faster. */
  readonly #chores = new Set<Promise<void>>();
  readonly #household: Household;
  #closing: Promise<void> | null = null;

  /** @throws ShinkenError `host_unsupported` if the addon is not built, `bad_request` for an impossible share or another SHINKEN_MEMORY. */
  constructor(options: MicrovmOptions = {}) {
    this.#options = options;
    this.#store = new GoldenStore(cacheLayout(options.cacheDir).folder);
    this.#admission = new Admission({
      share: options.memoryShare,
      bounds: options.memoryBounds,
      relieve: () => loadAddon().dropCaches(),
    });
    const admission = this.#admission;
    const machines = this.#machines;
    const isClosed = (): boolean => this.#closing !== null;
    this.#household = {
      admission,
      limits: { ...DEFAULT_LIMITS, ...options.limits },
      readyMs: options.readyMs ?? DEFAULT_READY_MS,
      arrivals: new Gate(ARRIVALS_PER_THREAD * availableParallelism()),
      memory: options.memory ?? memoryOfProcess(),
      get closed() {
        return isClosed();
      },
      killed: { lost: 0, repeated: 0, refused: 0, died: 0, other: 0 },
      add: (machine) => machines.add(machine),
      remove: (machine) => machines.delete(machine),
    };
  }

  /** Kind of guest memory of its machines. */
  get memory(): MemoryKind {
    return this.#household.memory;
  }

  get machineAbi(): number {
    return loadAddon().machineAbi;
  }

  checkImage(image: string): void {
    this.#open(image);
  }

  async imageGolden(
    image: string,
    options: { memoryMiB?: number; onProgress?: (line: string) => void } = {},
  ): Promise<Golden> {
    const info = this.#open(image);
    const memoryMiB = this.#memory(options.memoryMiB);
    return handleOf(() => this.#imageGolden(info, memoryMiB, options.onProgress));
  }

  async setupGolden(
    image: string,
    setupDigest: string,
    setup: (sandbox: Sandbox) => Promise<void>,
    options: { memoryMiB?: number; onProgress?: (line: string) => void } = {},
  ): Promise<Golden> {
    const info = this.#open(image);
    const memoryMiB = this.#memory(options.memoryMiB);
    const imageGolden = (): Promise<SharedGolden> => this.#imageGolden(info, memoryMiB, options.onProgress);
    if (setupDigest === "") return handleOf(imageGolden);
    const key: GoldenKey = { image: info.digest, setup: setupDigest, seed: "", memoryMiB };
    return handleOf(() =>
      this.#shared(key, info, async (family) => {
        const base = await handleOf(imageGolden);
        try {
          // The setup's machine is seeded by what it will be: the same setup gives the same golden.
          const seed = createHash("sha256").update(`shinken setup ${info.digest} ${setupDigest}`).digest();
          const machine = await replicaOf({ ...sourceOf(base.shared), family }, { seed });
          return await this.#frozen(machine, setup);
        } finally {
          base.close();
        }
      }),
    );
  }

  async join(sandboxes: readonly Sandbox[]): Promise<Network> {
    const members = sandboxes.map((sandbox) => {
      if (sandbox instanceof MicrovmSandbox && this.#machines.has(sandbox)) return sandbox;
      if (sandbox.closed) throw new ShinkenError("machine_closed", `machine ${sandbox.id} was closed`);
      throw new ShinkenError("bad_request", `${sandbox.id} is no machine of this provider`, {
        path: "sandboxes",
      });
    });
    return MicrovmNetwork.join(members);
  }

  openMachines(): number {
    return this.#machines.size;
  }

  /** Machines that were not made, since the host had no memory for them. */
  refusedForks(): number {
    return this.#admission.refused;
  }

  /** Forks that were killed since they did not become unique, by the reason. */
  killedForks(): Readonly<Record<ForkFailure, number>> {
    return { ...this.#household.killed };
  }

  /** The host's share of a fork alone, for the benchmark: a machine that has not run. */
  hostFork(golden: Golden): NativeMachine {
    if (!(golden instanceof MicrovmGolden))
      throw new ShinkenError("internal", "not a golden of this provider");
    const identity = { generationId: randomBytes(16), mac: "02:00:00:00:00:01" };
    return hostFork(golden.shared.native, identity, this.#household.memory);
  }

  /** The same of a machine between two requests: with the freeze, which is most of it, and the way to an engine thread and back. */
  hostBranch(machine: Sandbox): Promise<NativeMachine> {
    if (!(machine instanceof MicrovmSandbox))
      throw new ShinkenError("internal", "not a machine of this provider");
    const mac = macBytes("02:00:00:00:00:01");
    return machine.native.fork({ kind: "branch", generationId: randomBytes(16), mac });
  }

  /** Bytes of a golden's pages that are not all zeros. */
  storedBytes(golden: Golden): number {
    if (!(golden instanceof MicrovmGolden))
      throw new ShinkenError("internal", "not a golden of this provider");
    return golden.shared.storedBytes;
  }

  /** Decodes more code for the forks of a golden; for servers, which have the time. */
  async warm(golden: Golden, depth: WarmDepth): Promise<void> {
    if (!(golden instanceof MicrovmGolden))
      throw new ShinkenError("internal", "not a golden of this provider");
    await warmCode({ ...sourceOf(golden.shared), family: this.#family(golden.shared.family) }, depth);
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      for (const golden of this.#kept.values()) golden.close();
      this.#kept.clear();
      while (this.#machines.size > 0)
        await Promise.all([...this.#machines].map((machine) => machine.close()));
      // Builds that were under way have lost their machines and end now.
      await Promise.allSettled(this.#goldens.values());
      await Promise.all(this.#chores);
    })();
    return this.#closing;
  }

  #open(image: string): ImageInfo {
    if (this.#closing !== null) throw new ShinkenError("machine_closed", "the provider was closed");
    return openImage(image, this.#options.cacheDir);
  }

  #memory(memoryMiB: number | undefined): number {
    return memoryMiB ?? this.#options.memoryMiB ?? DEFAULT_MEMORY_MIB;
  }

  #family({ image, memoryMiB }: { image: string; memoryMiB: number }): Family {
    return { household: this.#household, siblings: new Siblings(), image, memoryMiB };
  }

  async #imageGolden(
    info: ImageInfo,
    memoryMiB: number,
    say = (_line: string): void => undefined,
  ): Promise<SharedGolden> {
    const key: GoldenKey = { image: info.digest, setup: "", seed: "", memoryMiB };
    const shared = await this.#shared(key, info, async (family) => {
      say(`golden of ${info.name}: boot`);
      const machine = await this.#admission.during("ordinary", BOOT_BYTES, () =>
        bootImage(info, family, this.#options.onConsole),
      );
      say(`golden of ${info.name}: warm`);
      return this.#frozen(machine, () => settle(machine, true));
    });
    const name = fileKeyOf(key);
    if (!this.#kept.has(name) && this.#closing === null) this.#kept.set(name, shared.handle());
    return shared;
  }

  /** The golden of a key: open, on disk, or made by `build` and saved. */
  #shared(
    key: GoldenKey,
    info: ImageInfo,
    build: (family: Family) => Promise<Frozen>,
  ): Promise<SharedGolden> {
    const digest = fileKeyOf(key);
    const known = this.#goldens.get(digest);
    if (known !== undefined) return known;
    const made = this.#loadOrBuild(digest, key, info, build);
    this.#goldens.set(digest, made);
    made.catch(() => this.#goldens.delete(digest));
    return made;
  }

  async #loadOrBuild(
    digest: string,
    key: GoldenKey,
    info: ImageInfo,
    build: (family: Family) => Promise<Frozen>,
  ): Promise<SharedGolden> {
    const family = this.#family({ image: key.image, memoryMiB: key.memoryMiB });
    const loaded = await this.#store.load(digest, disksOf(info));
    const { native, nextStream, warm, code } =
      loaded === null
        ? { ...(await build(family)), warm: undefined, code: CODE_RECIPE }
        : { native: loaded, ...noteOf(loaded.facts().note) };
    const ahead = loaded !== null && (await this.#readAhead(digest, native));
    const shared = new SharedGolden(digest, native, family, nextStream, () => {
      this.#goldens.delete(digest);
      if (loaded !== null && !ahead) this.#noteOrder(digest, native);
    });
    try {
      const wanted = this.#options.warm ?? "quick";
      // A golden that was frozen in a fork has the code of that fork's own golden.
      let depth = native.facts().hasCode && code === CODE_RECIPE ? (warm ?? "quick") : null;
      const decoded = depth === null || (wanted === "full" && depth !== "full");
      if (decoded) {
        await native.decodeCode();
        await warmCode({ ...sourceOf(shared), family: this.#family(family) }, wanted);
        depth = warm === "full" ? "full" : wanted;
      }
      const note: GoldenNote = { nextStream, warm: depth ?? undefined, code: CODE_RECIPE };
      const saved = (): Promise<void> => this.#store.save(digest, native, JSON.stringify(note));
      if (loaded === null) await saved();
      // A file that already serves only gets better: nobody fails for that.
      else if (decoded) await saved().catch(() => undefined);
      // Forks that are made meanwhile decode what they meet; nobody waits, and nobody fails, for more speed.
      else this.#decode(native);
    } catch (error) {
      native.close();
      throw error;
    }
    return shared;
  }

  #decode(native: NativeGolden): void {
    this.#chore(native.decodeCode().catch(() => undefined));
  }

  /** `uffd` forks of a loaded golden wait for its pages one by one: they are read ahead if it is known in which order. */
  async #readAhead(key: string, native: NativeGolden): Promise<boolean> {
    if (this.#household.memory !== "uffd") return false;
    const order = await this.#store.order(key);
    if (order !== null) native.prefetch({ order });
    return order !== null;
  }

  /** Writes down in which order its pages were touched, for the next process. */
  #noteOrder(key: string, native: NativeGolden): void {
    const order = native.touchedPages();
    if (order.length > 0) this.#chore(this.#store.saveOrder(key, order));
  }

  /** What nobody waits for but the end of the provider. */
  #chore(work: Promise<void>): void {
    const done = work.finally(() => this.#chores.delete(done));
    this.#chores.add(done);
  }

  /** Runs `prepare`, lets the machine come to rest, freezes and closes it. */
  async #frozen(machine: MicrovmSandbox, prepare: (sandbox: Sandbox) => Promise<void>): Promise<Frozen> {
    try {
      await prepare(machine);
      await machine.agent.unplug();
      await settle(machine, false);
      if (!machine.transport.parked)
        throw new ShinkenError("setup_failed", "the machine did not come to rest");
      const native = await machine.native.freeze();
      return { native, nextStream: machine.agent.nextStream };
    } finally {
      await machine.close();
    }
  }
}

function memoryOfProcess(): MemoryKind {
  const text = process.env["SHINKEN_MEMORY"] ?? "soft";
  if (text === "soft" || text === "uffd") return text;
  throw new ShinkenError("bad_request", `SHINKEN_MEMORY is ${JSON.stringify(text)}`, {
    path: "SHINKEN_MEMORY",
    suggestion: "soft or uffd",
  });
}

interface Frozen {
  native: SharedGolden["native"];
  nextStream: number;
}

/** A handle of a golden; the one found may just have been closed by its last holder, then there is another. */
async function handleOf(find: () => Promise<SharedGolden>): Promise<MicrovmGolden> {
  for (;;) {
    const shared = await find();
    if (!shared.closed) return shared.handle();
  }
}

function sourceOf(shared: SharedGolden): {
  native: SharedGolden["native"];
  family: Family;
  nextStream: number;
} {
  return { native: shared.native, family: shared.family, nextStream: shared.nextStream };
}
