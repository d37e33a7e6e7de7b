/** A session on a server, with the face of an `Environment`: what runs on a local one runs on this one. */
import type { CheckpointListing } from "../env/checkpoints.js";
import type {
  Decision,
  Environment,
  EnvironmentEvent,
  Info,
  Observation,
  ResetResult,
  StepResult,
} from "../env/environment.js";
import { ShinkenError } from "../errors/index.js";
import type { Verdict } from "../verifiers/verdict.js";
import {
  type BranchResult,
  type CreateResult,
  fromWireVerdict,
  type SessionEvent,
  type SessionState,
  type WireVerdict,
} from "../wire/index.js";
import type { Call } from "./calls.js";

/** What the server itself says about a session: it closed it, or another connection has taken it over. */
export type SessionNotice = { event: "closed"; code: string; message: string } | { event: "detached" };

export interface BranchOptions {
  name?: string | undefined;
  atStep?: number | undefined;
}

/** What a session needs of its client. */
export interface Caller {
  call(call: Call): Promise<Record<string, unknown>>;
  forget(session: RemoteSession): void;
  adopt(result: CreateResult): RemoteSession;
}

export class RemoteSession implements Environment {
  readonly name: string;
  readonly token: string;
  readonly task: string;
  private readonly caller: Caller;
  private readonly listeners: ((event: EnvironmentEvent) => void)[] = [];
  private readonly noticeListeners: ((notice: SessionNotice) => void)[] = [];
  private nextStep: number | null = null;
  private episodeId: string | null = null;
  private closed = false;

  constructor(caller: Caller, created: CreateResult) {
    this.caller = caller;
    this.name = created.session;
    this.token = created.token;
    this.task = created.task;
  }

  /** Number that the next step will carry; null before the first reset. */
  get next(): number | null {
    return this.nextStep;
  }

  /** Id of the present episode, where the server records it: what `create({ from: { bundle } })` takes. */
  get episode(): string | null {
    return this.episodeId;
  }

  async reset(
    options: { seed?: number | undefined; params?: Record<string, unknown> | undefined } = {},
  ): Promise<ResetResult> {
    const result = await this.call("reset", { seed: options.seed, params: options.params });
    this.nextStep = result["next"] as number;
    this.episodeId = (result["episode"] as string | undefined) ?? null;
    return { observation: result["observation"] as Observation, info: result["info"] as Info };
  }

  async step(actions: readonly unknown[], decision?: Decision): Promise<StepResult> {
    // Before a reset the server says `not_reset`, whatever the number.
    const result = await this.call("step", { step: this.nextStep ?? 1, actions, decision });
    this.nextStep = result["next"] as number;
    return result as unknown as StepResult;
  }

  async evaluate(): Promise<Verdict> {
    return fromWireVerdict((await this.call("evaluate"))["verdict"] as WireVerdict<Verdict>);
  }

  async observe(): Promise<Observation> {
    return (await this.call("observe"))["observation"] as Observation;
  }

  /**
   * A branch of this session, under a name of one's own choice or the server's; of its state after step `atStep`, if that is given
   * and the session keeps checkpoints.
   */
  async fork(options: string | BranchOptions = {}): Promise<RemoteSession> {
    const { name, atStep } = typeof options === "string" ? { name: options } : options;
    const result = await this.call("fork", { as: name, at_step: atStep });
    const branch = this.caller.adopt(result as unknown as CreateResult);
    branch.restore(result as unknown as BranchResult);
    return branch;
  }

  /** What the server keeps of this session's former steps. */
  async checkpoints(): Promise<CheckpointListing> {
    return (await this.call("list", { what: "checkpoints" })) as unknown as CheckpointListing;
  }

  /** Asks the running request to stop; it rejects with `cancelled`. */
  cancel(): void {
    // A lost connection has ended the request anyway.
    this.call("cancel").catch(() => undefined);
  }

  /** Leaves the session on the server, for whoever attaches within its grace time (returned, in seconds). */
  async detach(): Promise<number> {
    const result = await this.call("detach");
    this.caller.forget(this);
    return result["grace_s"] as number;
  }

  /** Idempotent; a session that the server has closed already is closed. */
  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    try {
      await this.call("close");
    } catch (error) {
      if (!(error instanceof ShinkenError) || error.code !== "unknown_session") throw error;
    } finally {
      this.caller.forget(this);
    }
  }

  onEvent(listener: (event: EnvironmentEvent) => void): void {
    this.listeners.push(listener);
  }

  onNotice(listener: (notice: SessionNotice) => void): void {
    this.noticeListeners.push(listener);
  }

  /** Takes over what the server says of the session after an attach or a fork. */
  restore(state: { state: SessionState; next: number | null; episode?: string | undefined }): void {
    this.nextStep = state.next;
    this.episodeId = state.episode ?? this.episodeId;
  }

  /** Called by the client for each event of this session. */
  deliver(pushed: SessionEvent): void {
    const { session: _, ...event } = pushed;
    if (event.event === "closed" || event.event === "detached") {
      for (const listener of this.noticeListeners) listener(event);
    } else {
      for (const listener of this.listeners) listener(event);
    }
  }

  private call(op: Call["op"], fields: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    return this.caller.call({ op, session: this.name, ...fields });
  }
}
