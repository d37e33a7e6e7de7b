/**
 * One rollout: groups drawn by the scheduler, episodes made ready ahead of demand, given out in the scheduler's order to whoever pulls, and
 * counted when they end. Knows no sockets, reads no clock and sets no timer by itself: `tick` is called by its owner.
 */
import { type ErrorCode, ShinkenError } from "../../errors/index.js";
import { Demand } from "./demand.js";
import type { RolloutEvent } from "./events.js";
import { Group } from "./group.js";
import { Lease, type LeaseOwner, type Play } from "./lease.js";
import { Plan, PlannedEpisode, type PreparedEpisode } from "./plan.js";
import { GroupScheduler, replicaSeed } from "./scheduler.js";
import type { RolloutSpec } from "./spec.js";
import { type RolloutStats, RolloutTally } from "./tally.js";
import { Waiter } from "./waiter.js";

export interface RolloutPorts {
  /** Milliseconds of a monotonic clock. */
  now(): number;
  /** Parameters that the seed draws for the task; undefined where it has none. */
  draw(task: string, seed: number): Record<string, unknown> | undefined;
  /**
   * Forks and resets. Rejects with `too_many_sessions` or `out_of_memory` where there is no room for it now: that is no failure of the
   * episode's.
   */
  prepare(episode: PlannedEpisode): Promise<PreparedEpisode>;
  emit(event: RolloutEvent): void;
}

/** Preparations at a time; more would only share the processor. */
const preparationsAtMost = 32;
/** Milliseconds for which nothing is made ready ahead after it could not be. */
const pauseMs = 1_000;
/** Refusals for want of room; they say nothing of the episode. */
const noRoom: ReadonlySet<string> = new Set(["too_many_sessions", "out_of_memory"]);

export class Rollout implements LeaseOwner {
  readonly spec: RolloutSpec;
  readonly #ports: RolloutPorts;
  readonly #scheduler: GroupScheduler;
  readonly #demand: Demand;
  readonly #tally = new RolloutTally();
  readonly #plan = new Plan();
  readonly #groups = new Set<Group>();
  readonly #leases = new Set<Lease>();
  readonly #waiters: Waiter[] = [];
  /** What is being made or freed; settles always. */
  readonly #work = new Set<Promise<unknown>>();
  #preparing = 0;
  #prefetching = false;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #over: ShinkenError | undefined;

  constructor(spec: RolloutSpec, ports: RolloutPorts) {
    this.spec = spec;
    this.#ports = ports;
    this.#scheduler = new GroupScheduler(spec);
    this.#demand = new Demand(spec.warm);
  }

  /** Begins to make ready what is wanted at the least. */
  start(): void {
    this.#pump();
  }

  /** Every episode has been given out and has ended. */
  get done(): boolean {
    return this.#scheduler.exhausted && this.#plan.size === 0 && this.#leases.size === 0;
  }

  /**
   * The next episode, in the scheduler's order; `promise` settles with null once there are no more. Rejects with the failure of an episode
   * that could not be begun (the next pull goes on behind it), for want of room, and when the rollout is closed.
   */
  pull(): Waiter {
    const first = this.#free();
    const waiter = new Waiter(first?.prepared !== undefined);
    if (this.#over !== undefined) waiter.reject(this.#over);
    else {
      this.#demand.pulled(this.#ports.now(), waiter.found);
      this.#waiters.push(waiter);
      this.#pump();
    }
    return waiter;
  }

  /** Whoever pulled does not want it any more. */
  giveUp(waiter: Waiter): void {
    if (waiter.settled) return;
    waiter.resolve(null);
    this.#forget(waiter);
    this.#pump();
  }

  /** For the groups drawn from now on. Throws `unknown_task` with the path of one that the rollout does not have. */
  setWeights(weights: Readonly<Record<string, number>>): void {
    this.#scheduler.setWeights(weights);
    this.#pump();
  }

  stats(): RolloutStats {
    const now = this.#ports.now();
    const { spec } = this;
    return this.#tally.stats({
      groups: { drawn: this.#scheduler.drawn(), open: this.#groups.size, of: spec.groups },
      warm: this.#warm().length,
      preparing: this.#preparing,
      waiting: this.#waiters.length,
      playing: this.#leases.size,
      target: this.#demand.target(now),
      pullsPerSecond: this.#demand.rate(now),
      prepareMs: this.#demand.prepareMs,
      tasks: Object.fromEntries(
        spec.tasks.map((task) => [
          task,
          { groups: this.#scheduler.drawn(task), weight: this.#scheduler.weight(task) },
        ]),
      ),
      done: this.done,
    });
  }

  /** Late replicas are cut or replaced, and what waits without need is freed. To be called a few times a second. */
  tick(): void {
    if (this.#over !== undefined) return;
    const now = this.#ports.now();
    const { policy, afterMs } = this.spec.stragglers;
    if (policy !== "wait") {
      for (const group of [...this.#groups]) {
        if (group.quorumAt !== undefined && now - group.quorumAt >= afterMs) this.#late(group, now);
      }
    }
    void this.#shrink(this.#demand.target(now));
    this.#pump();
  }

  /** Frees episodes that wait ready, the last ones to be given out first; resolves with how many when their machines are gone. */
  async relieve(atMost = Number.POSITIVE_INFINITY): Promise<number> {
    this.#pausedUntil = this.#ports.now() + pauseMs;
    const freed = this.#shrink(0, atMost);
    await Promise.all(freed);
    return freed.length;
  }

  /** Ends it: what waits is told `why`, what is played is taken away. Resolves when all its machines are gone. Idempotent. */
  async close(why: ShinkenError): Promise<void> {
    if (this.#over === undefined) {
      this.stop(why);
      for (const lease of [...this.#leases]) this.#track(lease.revoke(why));
      this.#leases.clear();
    }
    while (this.#work.size > 0) await Promise.all(this.#work);
  }

  /** Gives nothing out any more and frees what waits; what is played is played to its end. */
  stop(why: ShinkenError): void {
    if (this.#over !== undefined) return;
    this.#over = why;
    for (const waiter of this.#waiters.splice(0)) waiter.reject(why);
    for (const episode of [...this.#plan]) this.#drop(episode);
  }

  finished(lease: Lease, play: Play): void {
    const { verdict, reward, steps } = play;
    const { status } = verdict;
    this.#leases.delete(lease);
    this.#ended(lease.group, {
      ...lease.name,
      status,
      verdict,
      reward,
      steps,
      reason: verdict.reason ?? null,
      session: lease.session,
      episode: lease.bundle,
    });
    this.#pump();
  }

  failed(lease: Lease, code: ErrorCode, message: string): void {
    this.#leases.delete(lease);
    const { group, name } = lease;
    // After the reply that tells of it.
    setImmediate(() => {
      this.#track(lease.onRevoked(new ShinkenError(code, message)));
    });
    if (!group.ended) {
      if (name.attempt < this.spec.attempts) this.#again(group, name, name.attempt + 1, code, message);
      else this.#failure(group, lease.name, `${code}: ${message}`, lease);
    }
    this.#pump();
  }

  returned(lease: Lease): void {
    this.#leases.delete(lease);
    const { group, name } = lease;
    if (this.#over === undefined && !group.ended) {
      this.#again(group, name, name.attempt, "returned", "its player went away before it ended");
      this.#pump();
    }
  }

  #pump(): void {
    if (this.#over !== undefined) return;
    this.#bind();
    for (const episode of [...this.#plan]) {
      if (episode.waiter === undefined) continue;
      if (episode.prepared !== undefined) this.#handOver(episode, episode.waiter, episode.prepared);
      else this.#prepare(episode);
    }
    this.#prefetchSoon();
    if (this.done) for (const waiter of this.#waiters.splice(0)) waiter.resolve(null);
  }

  /** Each waiter gets one episode of the plan, in order: the n-th pull the n-th episode. */
  #bind(): void {
    const bound = new Set([...this.#plan].map(({ waiter }) => waiter));
    for (const waiter of this.#waiters) {
      if (bound.has(waiter)) continue;
      const episode = this.#free() ?? this.#draw();
      if (episode === undefined) return;
      episode.waiter = waiter;
    }
  }

  #free(): PlannedEpisode | undefined {
    for (const episode of this.#plan) if (episode.waiter === undefined) return episode;
    return undefined;
  }

  /** A new group; the first of its episodes. */
  #draw(): PlannedEpisode | undefined {
    const drawn = this.#scheduler.next();
    if (drawn === null) return undefined;
    const group = new Group(drawn, this.spec.group, this.#ports.draw(drawn.task, drawn.seed));
    this.#groups.add(group);
    for (let count = 0; count < group.size; count++) this.#addReplica(group);
    return this.#free();
  }

  #addReplica(group: Group): void {
    const replica = group.newReplica();
    const { id, task, seed } = group.drawn;
    const name = { group: id, replica, attempt: 1, task, seed: replicaSeed(seed, replica) };
    this.#plan.add(new PlannedEpisode(group, name));
  }

  /** After what was handed over just now is on its way: the pull is not to wait for the next one's fork. */
  #prefetchSoon(): void {
    if (this.#prefetching) return;
    this.#prefetching = true;
    setImmediate(() => {
      this.#prefetching = false;
      if (this.#over === undefined) this.#prefetch();
    });
  }

  #prefetch(): void {
    const now = this.#ports.now();
    const target = this.#demand.target(now);
    let ahead = this.#plan.count(
      (one) => one.waiter === undefined && (one.preparing || one.prepared !== undefined),
    );
    if (now < this.#pausedUntil) return;
    while (ahead < target && this.#preparing < preparationsAtMost) {
      let next: PlannedEpisode | undefined;
      for (const one of this.#plan) {
        if (one.waiter === undefined && !one.preparing && one.prepared === undefined) {
          next = one;
          break;
        }
      }
      next ??= this.#draw();
      if (next === undefined) return;
      // A draw of a higher priority may stand before what is ready.
      if (next.preparing || next.prepared !== undefined) continue;
      this.#prepare(next);
      ahead += 1;
    }
  }

  #prepare(episode: PlannedEpisode): void {
    if (episode.preparing || this.#preparing >= preparationsAtMost) return;
    episode.preparing = true;
    this.#preparing += 1;
    const began = this.#ports.now();
    this.#track(
      this.#ports.prepare(episode).then(
        async (prepared) => {
          this.#preparing -= 1;
          episode.preparing = false;
          this.#demand.prepared(this.#ports.now() - began);
          if (episode.dropped) await prepared.discard();
          else episode.prepared = prepared;
          this.#pump();
        },
        (error: unknown) => {
          this.#preparing -= 1;
          episode.preparing = false;
          this.#notPrepared(episode, error instanceof ShinkenError ? error : internal(error));
          this.#pump();
        },
      ),
    );
  }

  #notPrepared(episode: PlannedEpisode, error: ShinkenError): void {
    this.#pausedUntil = this.#ports.now() + pauseMs;
    const { waiter, group, name } = episode;
    if (episode.dropped) return;
    if (noRoom.has(error.code)) {
      if (waiter !== undefined) this.#refuse(episode, waiter, error);
      return;
    }
    // What nobody waits for is tried again when somebody does, or after the pause: no failure makes a rollout spin.
    if (name.attempt < this.spec.attempts && error.retry) {
      name.attempt += 1;
      this.#tally.again(error.code);
      this.#ports.emit({ event: "rollout.again", ...name, code: error.code, message: error.message });
      return;
    }
    if (waiter === undefined) return;
    this.#plan.remove(episode);
    this.#refuse(episode, waiter, error);
    this.#failure(group, name, `${error.code}: ${error.message}`);
  }

  #refuse(episode: PlannedEpisode, waiter: Waiter, error: ShinkenError): void {
    episode.waiter = undefined;
    waiter.reject(error);
    this.#forget(waiter);
  }

  #handOver(episode: PlannedEpisode, waiter: Waiter, prepared: PreparedEpisode): void {
    this.#plan.remove(episode);
    this.#forget(waiter);
    const lease = new Lease(this, episode.group, episode.name, prepared, {
      warm: waiter.found,
      since: this.#ports.now(),
      gradable: this.spec.gradable,
    });
    this.#leases.add(lease);
    this.#tally.handedOut();
    waiter.resolve(lease);
  }

  #forget(waiter: Waiter): void {
    const index = this.#waiters.indexOf(waiter);
    if (index >= 0) this.#waiters.splice(index, 1);
    for (const episode of this.#plan) if (episode.waiter === waiter) episode.waiter = undefined;
  }

  #again(group: Group, name: Lease["name"], attempt: number, code: string, message: string): void {
    const next = { ...name, attempt };
    this.#plan.add(new PlannedEpisode(group, next));
    this.#tally.again(code);
    this.#ports.emit({ event: "rollout.again", ...next, code, message });
  }

  #failure(group: Group, name: Lease["name"], reason: string, lease?: Lease): void {
    this.#ended(group, {
      ...name,
      status: "failed",
      verdict: null,
      reward: null,
      steps: 0,
      reason,
      session: lease?.session ?? null,
      episode: lease?.bundle ?? null,
    });
  }

  #ended(group: Group, result: Group["results"][number]): void {
    if (group.ended) return;
    group.results.push(result);
    const progress = group.progress();
    this.#tally.ended(result.status);
    this.#ports.emit({ event: "rollout.result", ...result, progress });
    if (progress.ended >= group.size) this.#close(group, "complete", []);
    else if (progress.ended >= this.spec.stragglers.quorum) group.quorumAt ??= this.#ports.now();
  }

  #late(group: Group, now: number): void {
    const played = [...this.#leases].filter((lease) => lease.group === group);
    const late = played.map(({ name }) => name.replica);
    const replace = this.spec.stragglers.policy === "resample" && group.resampled < this.spec.attempts - 1;
    if (replace && played.length === 0) return;
    const planned = [...this.#plan].filter((episode) => episode.group === group);
    if (!replace) {
      for (const episode of planned) this.#drop(episode);
      late.push(...planned.map(({ name }) => name.replica));
    }
    const error = new ShinkenError(
      "episode_cut",
      `group ${group.drawn.id} went on without this episode, which was late`,
    );
    for (const lease of played) {
      this.#leases.delete(lease);
      this.#track(lease.revoke(error));
    }
    if (!replace) {
      this.#close(group, "cut", late);
      return;
    }
    group.resampled += 1;
    group.quorumAt = now;
    for (const _ of late) this.#addReplica(group);
    this.#tally.group("resampled");
    this.#ports.emit(group.announcement("resampled", late));
  }

  #close(group: Group, state: "complete" | "cut", late: number[]): void {
    group.ended = true;
    this.#groups.delete(group);
    this.#tally.group(state);
    this.#ports.emit(
      group.announcement(
        state,
        late.sort((a, b) => a - b),
      ),
    );
  }

  #warm(): PlannedEpisode[] {
    return [...this.#plan].filter(({ waiter, prepared }) => waiter === undefined && prepared !== undefined);
  }

  /** Frees what waits beyond `keep`; it stays in the plan, to be made ready again when it is wanted. */
  #shrink(keep: number, atMost = Number.POSITIVE_INFINITY): Promise<void>[] {
    const warm = this.#warm();
    const surplus = warm.reverse().slice(0, Math.max(0, Math.min(warm.length - keep, atMost)));
    return surplus.map((episode) => {
      const freed = episode.prepared?.discard() ?? Promise.resolve();
      episode.prepared = undefined;
      this.#track(freed);
      return freed;
    });
  }

  #drop(episode: PlannedEpisode): void {
    this.#plan.remove(episode);
    episode.dropped = true;
    episode.waiter = undefined;
    if (episode.prepared !== undefined) this.#track(episode.prepared.discard());
    episode.prepared = undefined;
  }

  #track(work: Promise<unknown>): void {
    const tracked: Promise<unknown> = work.catch(() => undefined).finally(() => this.#work.delete(tracked));
    this.#work.add(tracked);
  }
}

function internal(error: unknown): ShinkenError {
  return new ShinkenError("internal", error instanceof Error ? error.message : String(error), {
    cause: error,
  });
}
