/** What carries frames to the agent and runs its machine; the microvm provider implements it on the addon. */

/** 0: the agent's own port, 1: the grader's. */
export type AgentPort = 0 | 1;

/** Bounds of one exchange, all optional. Guest time and instructions are the machine's; wall time is a safety net. */
export interface ExchangeLimits {
  maxInstructions?: number | undefined;
  maxGuestMs?: number | undefined;
  wallMs?: number | undefined;
}

export interface ExchangeRequest extends ExchangeLimits {
  port: AgentPort;
  /** Whole frames, delivered before the machine runs. */
  input: Uint8Array;
  /** The stream whose FINAL reply ends the exchange. */
  stream: number;
  /** Input from outside is awaited, so idle waits take host time instead of being skipped. */
  realtime?: boolean | undefined;
}

export interface AgentTransport {
  /**
   * Runs the machine until the FINAL reply of `stream` has come and the machine is parked. Each whole frame that comes out of the
   * port, of whatever stream, is passed to `onFrame` in order, which must not throw. `reason` is `reply`, or why the machine stopped
   * without one: `cancelled`, anything that contains `timeout` or `limit`, or what became of the machine.
   */
  exchange(request: ExchangeRequest, onFrame: (frame: Uint8Array) => void): Promise<{ reason: string }>;
  /** Delivers more frames while an exchange runs. */
  post(port: AgentPort, bytes: Uint8Array): void;
  /** Nobody is awaited any more in the exchange that runs, if it is in realtime: its idle waits are skipped from here on. */
  expectNobody(): void;
  /** Makes the running exchange end with `cancelled`; nothing happens if none runs. */
  cancel(): void;
}
