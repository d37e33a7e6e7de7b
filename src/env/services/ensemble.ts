/**
 * The agent's machine with the services of its task on one switch. To whoever plays it, it is one machine, the agent's; a branch takes
 * all of them along, and closing it closes all.
 */
import { createHash } from "node:crypto";
import { ShinkenError } from "../../errors/index.js";
import type {
  ExecRequest,
  ForkKind,
  ForkOptions,
  Golden,
  GoldenKey,
  Network,
  NetworkAddress,
  ReadOptions,
  Sandbox,
  StreamOptions,
  WallClock,
  WriteOptions,
} from "../../sandbox/sandbox.js";
import { hostClock } from "../../sandbox/clock.js";
import { tellNames } from "./hosts.js";

/** Puts machines on a switch; the provider's `join`. */
export type Join = (sandboxes: readonly Sandbox[]) => Promise<Network>;

/** How a machine with its services comes about: each from its own parent, with a seed of its own. */
export interface Members {
  main: (options: ForkOptions) => Promise<Sandbox>;
  services: ReadonlyMap<string, (options: ForkOptions) => Promise<Sandbox>>;
}

export class Ensemble implements Sandbox {
  readonly services: ReadonlyMap<string, Sandbox>;
  readonly #main: Sandbox;
  readonly #network: Network;
  readonly #join: Join;

  private constructor(main: Sandbox, services: ReadonlyMap<string, Sandbox>, network: Network, join: Join) {
    this.services = services;
    this.#main = main;
    this.#network = network;
    this.#join = join;
  }

  /** Makes all machines, joins them and tells each the others' names. What was made is closed if that fails. */
  static async make(members: Members, join: Join, options: ForkOptions): Promise<Ensemble> {
    if (options.checkpoints !== undefined)
      throw new ShinkenError("bad_request", "a task with services keeps no checkpoints", {
        path: "checkpoints",
        suggestion: "create the session without checkpoints",
      });
    const seed = typeof options.seed === "function" ? options.seed() : options.seed;
    const clock = options.clock === "now" ? hostClock() : options.clock;
    const started = [
      members.main({ ...options, seed, clock }),
      ...[...members.services].map(([name, make]) => make({ seed: seedOf(seed, name), clock })),
    ];
    const settled = await Promise.allSettled(started);
    const made = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    try {
      const failed = settled.find((one) => one.status === "rejected");
      if (failed !== undefined) throw failed.reason;
      const [main, ...others] = made as [Sandbox, ...Sandbox[]];
      const services = new Map(
        [...members.services.keys()].map((name, index) => [name, others[index] as Sandbox]),
      );
      const network = await join(made);
      await tellNames(main, services);
      return new Ensemble(main, services, network, join);
    } catch (error) {
      await Promise.all(made.map((one) => one.close().catch(() => undefined)));
      throw error;
    }
  }

  get id(): string {
    return this.#main.id;
  }
  get readyMs(): number | null {
    return this.#main.readyMs;
  }
  /** The same for all its machines. */
  get clock(): WallClock | null {
    return this.#main.clock ?? null;
  }
  get closed(): boolean {
    return this.#main.closed;
  }
  get address(): NetworkAddress | null {
    return this.#main.address ?? null;
  }
  exec(request: ExecRequest): ReturnType<Sandbox["exec"]> {
    return this.#main.exec(request);
  }
  stream(request: ExecRequest, options?: StreamOptions): ReturnType<Sandbox["stream"]> {
    return this.#main.stream(request, options);
  }
  dialogue(request: ExecRequest): ReturnType<Sandbox["dialogue"]> {
    return this.#main.dialogue(request);
  }
  readFile(path: string, options?: ReadOptions): Promise<Uint8Array> {
    return this.#main.readFile(path, options);
  }
  writeFile(path: string, data: Uint8Array | string, options?: WriteOptions): Promise<void> {
    return this.#main.writeFile(path, data, options);
  }
  stat(path: string): ReturnType<Sandbox["stat"]> {
    return this.#main.stat(path);
  }
  statIfExists(path: string): ReturnType<Sandbox["statIfExists"]> {
    return this.#main.statIfExists(path);
  }
  list(path: string, limit?: number): ReturnType<Sandbox["list"]> {
    return this.#main.list(path, limit);
  }
  hash(path: string, limit?: number): Promise<string> {
    return this.#main.hash(path, limit);
  }
  processes(): ReturnType<Sandbox["processes"]> {
    return this.#main.processes();
  }
  wait(ms: number): Promise<void> {
    return this.#main.wait(ms);
  }

  /** A grade fork is one of the agent's machine alone: grading asks nobody on the network. */
  fork(kind: ForkKind, options: ForkOptions = {}): Promise<Sandbox> {
    if (kind === "grade") return this.#main.fork(kind, options);
    const services = new Map(
      [...this.services].map(([name, one]) => [name, (given: ForkOptions) => one.fork(kind, given)] as const),
    );
    return Ensemble.make({ main: (given) => this.#main.fork(kind, given), services }, this.#join, options);
  }

  freeze(key: GoldenKey): Promise<Golden> {
    return this.#main.freeze(key);
  }

  /** Of all machines. */
  async digest(): Promise<string> {
    const hash = createHash("sha256").update(await this.#main.digest());
    for (const [name, one] of this.services) hash.update(`\0${name}\0${await one.digest()}`);
    return hash.digest("hex");
  }

  /** Of the agent's machine: limits are about what the agent does. */
  stats(): ReturnType<Sandbox["stats"]> {
    return this.#main.stats();
  }
  cancel(): void {
    this.#main.cancel();
  }
  async close(): Promise<void> {
    await this.#network.close().catch(() => undefined);
    await Promise.all([this.#main, ...this.services.values()].map((one) => one.close()));
  }
}

/** A service's seed hangs on the run's and on its name; without one it is random, like the machine's. */
function seedOf(seed: Uint8Array | undefined, name: string): Uint8Array | undefined {
  return seed === undefined
    ? undefined
    : createHash("sha256").update(seed).update(`service ${name}`).digest();
}
