/** An episode in somebody's hands: it ends once, in one of three ways, and the first one counts. */
import type { ResetResult } from "../../env/environment.js";
import type { ErrorCode, ShinkenError } from "../../errors/index.js";
import type { Verdict } from "../../verifiers/verdict.js";
import type { EpisodeName } from "./events.js";
import type { Group } from "./group.js";
import type { PreparedEpisode } from "./plan.js";
import { PulledEnvironment } from "./pulled-environment.js";

/** What a player did. */
export interface Play {
  verdict: Verdict;
  reward: number;
  steps: number;
}

export interface LeaseOwner {
  finished(lease: Lease, play: Play): void;
  failed(lease: Lease, code: ErrorCode, message: string): void;
  returned(lease: Lease): void;
}

export class Lease {
  readonly group: Group;
  readonly name: EpisodeName;
  readonly prepared: PreparedEpisode;
  /** What the player plays on; closing it before it is finished gives the episode back. */
  readonly environment: PulledEnvironment;
  /** It was ready before it was asked for. */
  readonly warm: boolean;
  readonly since: number;
  /** Where it is played, for its result. */
  session: string | null = null;
  /** Called once when it is taken from its player; settles when its machine is gone. Until it is set, the environment is closed. */
  onRevoked: (error: ShinkenError) => Promise<void>;
  readonly #owner: LeaseOwner;
  #open = true;

  constructor(
    owner: LeaseOwner,
    group: Group,
    name: EpisodeName,
    prepared: PreparedEpisode,
    at: { warm: boolean; since: number; gradable: boolean },
  ) {
    this.#owner = owner;
    this.group = group;
    this.name = name;
    this.prepared = prepared;
    this.warm = at.warm;
    this.since = at.since;
    this.environment = new PulledEnvironment(prepared.environment, this, at.gradable);
    this.onRevoked = () => this.environment.close();
  }

  /** Nothing has become of it yet. */
  get open(): boolean {
    return this.#open;
  }

  get reset(): ResetResult {
    return this.prepared.reset;
  }

  /** Id of its bundle. */
  get bundle(): string | null {
    return this.environment.episodeId;
  }

  finished(play: Play): void {
    if (this.#end()) this.#owner.finished(this, play);
  }

  failed(code: ErrorCode, message: string): void {
    if (this.#end()) this.#owner.failed(this, code, message);
  }

  returned(): void {
    if (this.#end()) this.#owner.returned(this);
  }

  /** Takes it from its player; nothing that happens to it counts any more. */
  revoke(error: ShinkenError): Promise<void> {
    this.#end();
    return this.onRevoked(error);
  }

  #end(): boolean {
    const open = this.#open;
    this.#open = false;
    return open;
  }
}
