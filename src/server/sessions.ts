/** All sessions of a server: names, who holds them, and how they end. */
import { randomBytes } from "node:crypto";
import type { Environment, EnvironmentEvent } from "../env/environment.js";
import { type ErrorCode, ShinkenError } from "../errors/index.js";
import { secretsEqual } from "./auth.js";
import type { ServerLimits } from "./limits.js";
import type { PushedEvent } from "../wire/index.js";
import { ServerSession } from "./session.js";

/** A connection, as far as sessions need one. */
export interface Holder {
  /** The sessions that it holds; kept by `Sessions`. */
  readonly held: Set<ServerSession>;
  event(session: ServerSession, event: EnvironmentEvent): void;
  /** Another connection has taken the session over. */
  lost(session: ServerSession): void;
  push(event: PushedEvent): void;
  /** The server has closed the session. */
  ended(session: ServerSession, code: ErrorCode, message: string): void;
}

export interface SessionsOptions {
  limits: ServerLimits;
  /** Milliseconds of a monotonic clock. */
  now: () => number;
  newToken?: (() => string) | undefined;
  onEvent: (event: EnvironmentEvent) => void;
  onExpired: () => void;
  onCloseError: (session: string, error: unknown) => void;
  /** Called where no place is free: frees what waits without need; false where there is nothing of the kind. */
  makeRoom?: (() => Promise<boolean>) | undefined;
}

/** One of the sessions that the server may hold, taken for a machine that waits to become one. */
export interface Place {
  /** Gives it back; a second time, or once a session stands in it, does nothing. */
  release(): void;
}

export class Sessions {
  private readonly options: SessionsOptions;
  private readonly byName = new Map<string, ServerSession>();
  private readonly holders = new Map<ServerSession, Holder>();
  /** Names whose environment is still being made. */
  private readonly reserved = new Set<string>();
  private readonly closings = new Set<Promise<void>>();
  private readonly places = new Set<Place>();
  private made = 0;
  private stopped = false;
  /** No session and no episode starts any more. */
  draining = false;

  constructor(options: SessionsOptions) {
    this.options = options;
  }

  /** Sessions, and machines that wait to become one. */
  get size(): number {
    return this.byName.size + this.places.size;
  }

  get detached(): number {
    return this.byName.size - this.holders.size;
  }

  /**
   * Makes a session and gives it to `holder`. The name and a place are taken before `make` starts, so two requests
   * cannot share one.
   */
  async create(
    wanted: string | undefined,
    graceSeconds: number | undefined,
    holder: Holder,
    make: () => Promise<Environment>,
  ): Promise<ServerSession> {
    this.assertOpen();
    while (this.full && (await this.options.makeRoom?.()) === true) this.assertOpen();
    const name = wanted ?? this.freshName();
    if (this.byName.has(name) || this.reserved.has(name)) {
      throw new ShinkenError("session_exists", `a session named '${name}' is already open`, {
        path: "session",
        suggestion: "attach to it with its token, or choose another name",
      });
    }
    this.assertRoom();
    this.reserved.add(name);
    try {
      const environment = await make();
      if (this.stopped) {
        await environment.close();
        this.assertOpen();
      }
      return this.begin(name, environment, graceSeconds, holder);
    } finally {
      this.reserved.delete(name);
    }
  }

  /** Takes a place for a machine that will wait for its session; `asked`: somebody waits for it. Rejects with `too_many_sessions`. */
  async reserve(asked: boolean): Promise<Place> {
    this.assertOpen();
    while (asked && this.full && (await this.options.makeRoom?.()) === true) this.assertOpen();
    this.assertRoom();
    const place: Place = { release: () => void this.places.delete(place) };
    this.places.add(place);
    return place;
  }

  /** A session, in the place that was taken for it, of an environment that is reset already. */
  adopt(
    place: Place,
    environment: Environment,
    graceSeconds: number | undefined,
    holder: Holder,
  ): ServerSession {
    place.release();
    const session = this.begin(this.freshName(), environment, graceSeconds, holder);
    session.continueAt(1);
    return session;
  }

  /** Who holds the session of that name, if anybody does. */
  holderOf(name: string): Holder | undefined {
    const session = this.byName.get(name);
    return session === undefined ? undefined : this.holders.get(session);
  }

  /** Throws `server_draining` once the server is shutting down. */
  assertOpen(): void {
    if (this.draining) throw new ShinkenError("server_draining", "the server is shutting down");
  }

  /** The session of that name, if `holder` holds it; touches it. */
  get(name: string, holder: Holder): ServerSession {
    const session = this.byName.get(name);
    if (session === undefined || this.holders.get(session) !== holder) {
      throw new ShinkenError("unknown_session", `this connection holds no session named '${name}'`, {
        path: "session",
        suggestion: "create it, or attach to it with its token",
      });
    }
    session.touchedAt = this.options.now();
    return session;
  }

  private begin(
    name: string,
    environment: Environment,
    graceSeconds: number | undefined,
    holder: Holder,
  ): ServerSession {
    const { limits, now } = this.options;
    const session = new ServerSession({
      name,
      token: this.newToken(),
      environment,
      graceMs: Math.min(graceSeconds ?? limits.graceSeconds, limits.graceSeconds) * 1000,
      now: now(),
    });
    this.byName.set(name, session);
    this.hold(session, holder);
    // Events go to whoever holds the session when they happen; while nobody does, they are lost.
    session.onEvent((event) => {
      if (event.event === "infra") session.failure = event.code;
      this.options.onEvent(event);
      this.holders.get(session)?.event(session, event);
    });
    return session;
  }

  newToken(): string {
    return this.options.newToken?.() ?? randomBytes(18).toString("base64url");
  }

  private get full(): boolean {
    return this.size + this.reserved.size >= this.options.limits.sessions;
  }

  private assertRoom(): void {
    if (!this.full) return;
    const { sessions } = this.options.limits;
    throw new ShinkenError("too_many_sessions", `the server holds ${sessions} sessions, as many as it may`);
  }

  /** The failure of the harness that the session has told of by an event already. */
  toldFailure(name: string): string | undefined {
    return this.byName.get(name)?.failure;
  }

  /** Gives a session to `holder`, whoever held it before. A wrong token looks like a wrong name. */
  attach(name: string, token: string, holder: Holder): ServerSession {
    const session = this.byName.get(name);
    const matches = secretsEqual(token, session?.token ?? "");
    if (session === undefined || !matches) {
      throw new ShinkenError(
        "unknown_session",
        `no session is named '${name}', or the token is not its own`,
        {
          path: "session",
        },
      );
    }
    const before = this.release(session);
    this.hold(session, holder);
    session.detachedAt = undefined;
    session.touchedAt = this.options.now();
    if (before !== undefined && before !== holder) before.lost(session);
    return session;
  }

  /** Leaves the session to whoever attaches within its grace time. */
  detach(session: ServerSession): void {
    this.release(session);
    session.detachedAt = this.options.now();
    if (session.graceMs === 0) void this.close(session);
  }

  /** Idempotent. Resolves when the environment has freed what it held; a failure to do so is reported, not thrown. */
  close(session: ServerSession): Promise<void> {
    if (this.byName.get(session.name) === session) this.byName.delete(session.name);
    this.release(session);
    const closing = session
      .close()
      .catch((error: unknown) => {
        this.options.onCloseError(session.name, error);
      })
      .finally(() => this.closings.delete(closing));
    this.closings.add(closing);
    return closing;
  }

  /** Closes what has been idle, detached or alive for too long. A session that works is not idle. */
  reap(): void {
    const { limits } = this.options;
    const now = this.options.now();
    for (const session of [...this.byName.values()]) {
      if (session.busy) session.touchedAt = now;
      const reason =
        session.detachedAt !== undefined && now - session.detachedAt >= session.graceMs
          ? "nobody attached within its grace time"
          : now - session.touchedAt >= limits.idleSeconds * 1000
            ? `no request for ${limits.idleSeconds} seconds`
            : now - session.createdAt >= limits.lifetimeSeconds * 1000
              ? `it is older than ${limits.lifetimeSeconds} seconds`
              : undefined;
      if (reason === undefined) continue;
      this.options.onExpired();
      void this.end(session, "session_expired", reason);
    }
  }

  /** Closes every session and waits until all environments are gone. */
  async closeAll(code: ErrorCode, reason: string): Promise<void> {
    this.draining = true;
    this.stopped = true;
    for (const session of [...this.byName.values()]) void this.end(session, code, reason);
    await Promise.all(this.closings);
  }

  /** Closes a session for a reason of the server's and tells its holder. */
  end(session: ServerSession, code: ErrorCode, reason: string): Promise<void> {
    const holder = this.holders.get(session);
    const closed = this.close(session);
    holder?.ended(session, code, reason);
    return closed;
  }

  private hold(session: ServerSession, holder: Holder): void {
    this.holders.set(session, holder);
    holder.held.add(session);
  }

  /** Whoever held it before. */
  private release(session: ServerSession): Holder | undefined {
    const holder = this.holders.get(session);
    this.holders.delete(session);
    holder?.held.delete(session);
    return holder;
  }

  private freshName(): string {
    let name: string;
    do name = `session-${++this.made}`;
    while (this.byName.has(name) || this.reserved.has(name));
    return name;
  }
}
