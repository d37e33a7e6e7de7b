/** One rollout as the server holds it: who belongs to it, what it has told, and the machines that wait in its name. */
import type { EnvironmentOptions } from "../../env/checkpoints.js";
import type { Environment, ResetResult } from "../../env/environment.js";
import { ShinkenError } from "../../errors/index.js";
import {
  type Lease,
  type PlannedEpisode,
  type PreparedEpisode,
  Rollout,
  type RolloutEvent,
  type RolloutSpec,
} from "../../rollout/pull/index.js";
import { type RolloutNotice, toWireVerdict } from "../../wire/index.js";
import type { Holder, Place } from "../sessions.js";

/** What a rollout tells, without its name and the number that it gets here. */
type Untold<T> = T extends unknown ? Omit<T, "rollout" | "number"> : never;

/** Events kept for members whose connection broke. */
const eventsKept = 1_024;

export interface ServerRolloutOptions {
  name: string;
  token: string;
  spec: RolloutSpec;
  /** Tasks that "all" did not mean. */
  leftOut: string[];
  graceMs: number;
  now: () => number;
  /** For every episode; labels of the episode are added. */
  environmentOptions: EnvironmentOptions;
  make: (task: string, options: EnvironmentOptions) => Promise<Environment>;
  draw: (task: string, seed: number) => Record<string, unknown> | undefined;
  /** Takes a place for a machine; `asked`: somebody waits for it. */
  reserve: (asked: boolean) => Promise<Place>;
  onReset: (result: ResetResult) => void;
  onEvent: (event: RolloutEvent) => void;
  onDiscardError: (error: unknown) => void;
}

export class ServerRollout {
  readonly name: string;
  readonly token: string;
  readonly leftOut: string[];
  readonly graceMs: number;
  readonly engine: Rollout;
  /** Connections that may pull; with `true` those that are told everything. */
  readonly members = new Map<Holder, boolean>();
  /** Since when it has no members; undefined while it has. */
  deserted: number | undefined;
  touchedAt: number;
  readonly #options: ServerRolloutOptions;
  readonly #places = new WeakMap<PreparedEpisode, Place>();
  #events: RolloutNotice[] = [];
  #told = 0;

  constructor(options: ServerRolloutOptions) {
    this.#options = options;
    this.name = options.name;
    this.token = options.token;
    this.leftOut = options.leftOut;
    this.graceMs = options.graceMs;
    this.touchedAt = options.now();
    this.engine = new Rollout(options.spec, {
      now: options.now,
      draw: options.draw,
      prepare: (episode) => this.#prepare(episode),
      emit: (event) => {
        options.onEvent(event);
        this.#emit(event);
      },
    });
  }

  /** The place that the episode's machine has waited in. */
  placeOf(lease: Lease): Place | undefined {
    return this.#places.get(lease.prepared);
  }

  /** Sends what was told after the event of that number, as far as it is kept. */
  retell(member: Holder, after: number): void {
    for (const event of this.#events) if (event.number > after) member.push(event);
  }

  /** The last that members hear of it. */
  closed(error: ShinkenError): void {
    this.#tell({ event: "rollout.closed", code: error.code, message: error.message });
  }

  #emit(event: RolloutEvent): void {
    if (event.event !== "rollout.result") {
      this.#tell(event);
      return;
    }
    const { verdict, session } = event;
    this.#tell({ ...event, verdict: verdict === null ? null : { ...toWireVerdict(verdict) } }, session);
  }

  /** `session`: whoever holds it is told as well. */
  #tell(event: Untold<RolloutNotice>, session: string | null = null): void {
    this.#told += 1;
    const notice = { ...event, rollout: this.name, number: this.#told };
    this.#events.push(notice);
    if (this.#events.length > eventsKept) this.#events = this.#events.slice(-eventsKept / 2);
    const player = session === null ? undefined : this.holderOf(session);
    for (const [member, listens] of this.members) if (listens || member === player) member.push(notice);
    if (player !== undefined && !this.members.has(player)) player.push(notice);
  }

  /** Set by whoever knows the sessions. */
  holderOf: (session: string) => Holder | undefined = () => undefined;

  async #prepare(episode: PlannedEpisode): Promise<PreparedEpisode> {
    const place = await this.#options.reserve(episode.waiter !== undefined);
    let environment: Environment | undefined;
    try {
      const { task, seed, group, replica, attempt } = episode.name;
      const { environmentOptions } = this.#options;
      const labels = { ...environmentOptions.labels, rollout: this.name, group, replica, attempt };
      environment = await this.#options.make(task, { ...environmentOptions, labels });
      const reset = await environment.reset({ seed, params: episode.params });
      this.#options.onReset(reset);
      const prepared = { environment, reset, discard: () => this.#discard(prepared, place) };
      this.#places.set(prepared, place);
      return prepared;
    } catch (error) {
      if (environment !== undefined) await environment.close().catch(this.#options.onDiscardError);
      place.release();
      throw error;
    }
  }

  async #discard({ environment }: PreparedEpisode, place: Place): Promise<void> {
    try {
      await environment.close();
    } catch (error) {
      this.#options.onDiscardError(error);
    } finally {
      place.release();
    }
  }
}

/** Why a rollout gives nothing out any more. */
export function rolloutOver(name: string, why: string): ShinkenError {
  return new ShinkenError("rollout_over", `the rollout '${name}' was closed: ${why}`);
}
