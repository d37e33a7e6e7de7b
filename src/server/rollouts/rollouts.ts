/** All rollouts of a server: names, who belongs to them, and how they end. */
import { type ErrorCode, ShinkenError } from "../../errors/index.js";
import { secretsEqual } from "../auth.js";
import type { Holder } from "../sessions.js";
import { rolloutOver, type ServerRollout } from "./server-rollout.js";

export interface RolloutsOptions {
  /** Rollouts at a time. */
  limit: number;
  idleMs: number;
  now: () => number;
}

export class Rollouts {
  readonly #options: RolloutsOptions;
  readonly #byName = new Map<string, ServerRollout>();
  readonly #reserved = new Set<string>();
  readonly #closings = new Set<Promise<void>>();
  #made = 0;
  #draining = false;

  constructor(options: RolloutsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#byName.size;
  }

  /** Sum of a figure over all that are open. */
  total(figure: (episodes: ReturnType<ServerRollout["engine"]["stats"]>["episodes"]) => number): number {
    return [...this.#byName.values()].reduce((sum, { engine }) => sum + figure(engine.stats().episodes), 0);
  }

  /** Takes a name and a place, makes the rollout and begins it; `opener` is told everything. */
  async open(
    wanted: string | undefined,
    opener: Holder,
    make: (name: string) => Promise<ServerRollout>,
  ): Promise<ServerRollout> {
    this.#assertOpen();
    const name = wanted ?? this.#freshName();
    if (this.#taken(name)) {
      throw new ShinkenError("rollout_exists", `a rollout named '${name}' is already open`, {
        path: "rollout",
        suggestion: "join it with rollout.attach and its token, or choose another name",
      });
    }
    if (this.#byName.size + this.#reserved.size >= this.#options.limit) {
      const { limit } = this.#options;
      throw new ShinkenError("too_many_rollouts", `the server holds ${limit} rollouts, as many as it may`);
    }
    this.#reserved.add(name);
    try {
      const rollout = await make(name);
      this.#assertOpen();
      this.#byName.set(name, rollout);
      rollout.members.set(opener, true);
      rollout.engine.start();
      return rollout;
    } finally {
      this.#reserved.delete(name);
    }
  }

  /** The rollout of that name, if `member` belongs to it; touches it. */
  get(name: string, member: Holder): ServerRollout {
    const rollout = this.#byName.get(name);
    if (rollout === undefined || !rollout.members.has(member)) {
      throw new ShinkenError("unknown_rollout", `no rollout named '${name}' is open to this connection`, {
        path: "rollout",
        suggestion: "open it, or join it with rollout.attach and its token",
      });
    }
    rollout.touchedAt = this.#options.now();
    return rollout;
  }

  /** Makes `member` one of the rollout's. A wrong token looks like a wrong name. */
  attach(name: string, token: string, member: Holder, listens: boolean): ServerRollout {
    const rollout = this.#byName.get(name);
    const matches = secretsEqual(token, rollout?.token ?? "");
    if (rollout === undefined || !matches) {
      throw new ShinkenError(
        "unknown_rollout",
        `no rollout is named '${name}', or the token is not its own`,
        { path: "rollout" },
      );
    }
    rollout.members.set(member, listens);
    rollout.deserted = undefined;
    rollout.touchedAt = this.#options.now();
    return rollout;
  }

  /** The member's connection has ended. */
  leave(member: Holder): void {
    for (const rollout of this.#byName.values()) {
      if (rollout.members.delete(member) && rollout.members.size === 0)
        rollout.deserted = this.#options.now();
    }
  }

  /** Ends what nobody belongs to, or nobody asks of, for too long; lets the others look at the time. */
  tick(): void {
    const now = this.#options.now();
    for (const rollout of [...this.#byName.values()]) {
      const { playing, waiting } = rollout.engine.stats().episodes;
      if (playing + waiting > 0) rollout.touchedAt = now;
      const reason =
        rollout.deserted !== undefined && now - rollout.deserted >= rollout.graceMs
          ? "nobody attached within its grace time"
          : now - rollout.touchedAt >= this.#options.idleMs
            ? "nobody asked anything of it for too long"
            : undefined;
      if (reason === undefined) rollout.engine.tick();
      else void this.close(rollout, rolloutOver(rollout.name, reason));
    }
  }

  /** Frees one machine that waits without need; false where there is none. */
  async makeRoom(): Promise<boolean> {
    for (const rollout of this.#byName.values()) if ((await rollout.engine.relieve(1)) > 0) return true;
    return false;
  }

  /** Frees all that wait without need: the host has no memory. */
  relieve(): void {
    for (const rollout of this.#byName.values()) void rollout.engine.relieve();
  }

  /** Idempotent. Resolves when its machines are gone. */
  close(rollout: ServerRollout, why = rolloutOver(rollout.name, "as asked for")): Promise<void> {
    if (this.#byName.get(rollout.name) === rollout) {
      this.#byName.delete(rollout.name);
      rollout.closed(why);
      rollout.members.clear();
    }
    const closing = rollout.engine.close(why).finally(() => this.#closings.delete(closing));
    this.#closings.add(closing);
    return closing;
  }

  /** Nothing is given out any more, what waits is freed; what is played goes on. */
  drain(): void {
    this.#draining = true;
    for (const { engine } of this.#byName.values()) engine.stop(draining());
  }

  /** Closes every rollout and waits until its machines are gone. */
  async closeAll(code: ErrorCode, message: string): Promise<void> {
    this.#draining = true;
    for (const rollout of [...this.#byName.values()])
      void this.close(rollout, new ShinkenError(code, message));
    await Promise.all(this.#closings);
  }

  #assertOpen(): void {
    if (this.#draining) throw draining();
  }

  #taken(name: string): boolean {
    return this.#byName.has(name) || this.#reserved.has(name);
  }

  #freshName(): string {
    let name: string;
    do name = `rollout-${++this.#made}`;
    while (this.#taken(name));
    return name;
  }
}

function draining(): ShinkenError {
  return new ShinkenError("server_draining", "the server is shutting down");
}
