/** The job queue: work that several processes, on one host or many, take on a lease and answer for. docs/scale.md tells its rules. */

/** A job as its submitter gives it. */
export interface NewJob {
  /** Its name for ever: adding it again changes nothing. Letters, digits and `._/-`, at most 256, beginning with a letter or digit. */
  id: string;
  /** What belongs together: results are collected, and forgotten, by run. */
  run: string;
  /** Name of the golden that it is forked from; null where any node is as good as another. */
  golden?: string | null | undefined;
  /** 0 to 1000; a higher one goes first. 0 if unsaid. */
  priority?: number | undefined;
  /** Leases that it may have before it is dead; 3 if unsaid. */
  attempts?: number | undefined;
  /** Plain JSON, at most 1 MiB. */
  payload: unknown;
}

/** A node's right to one job, until a time. */
export interface Lease {
  id: string;
  run: string;
  golden: string | null;
  payload: unknown;
  /** Proves whose lease it is. */
  token: string;
  /** 1 for the first lease of the job. */
  attempt: number;
}

/** What heartbeats, acks and nacks need of a lease. */
export type LeaseProof = Pick<Lease, "id" | "token">;

/** What a node tells of itself, so that jobs find their goldens and nodes find each other. */
export interface NodeNotice {
  node: string;
  /** Where others fetch its goldens; null if nowhere. */
  url: string | null;
  /** Names of the goldens that it holds. */
  goldens: readonly string[];
}

export interface JobResult {
  id: string;
  run: string;
  /** Plain JSON that the node acknowledged the job with. */
  result: unknown;
  /** Of the lease that was acknowledged. */
  attempt: number;
}

/** Results that one collector has in hand. */
export interface Batch {
  /** Settles it; nobody else is given these results before it expires. */
  claim: string;
  results: JobResult[];
}

export interface DeadJob {
  id: string;
  run: string;
  payload: unknown;
  attempts: number;
  /** Why its last attempt ended. */
  reason: string;
}

export interface QueueStats {
  /** To be leased now. */
  waiting: number;
  /** Given back, and to be tried later. */
  delayed: number;
  leased: number;
  /** Acknowledged, and not collected. */
  done: number;
  dead: number;
  /** Nodes that told of themselves lately. */
  nodes: number;
}

/**
 * Every operation is atomic, whoever else works on the queue, and rejects with `queue_failed` where its file or its Redis does.
 * A lease is lost when its time is over without a heartbeat; then every operation on it is refused with `lease_lost`.
 */
export interface JobQueue {
  /** Milliseconds of a lease and of a heartbeat. */
  readonly leaseMs: number;
  /** All are valid, or none is added. Gives how many were not there before. @throws ShinkenError `bad_request`, `job_conflict` where an id stands for another payload or run */
  add(jobs: readonly NewJob[]): Promise<number>;
  /** The next job for a node (`preferred` says which), or null. */
  lease(node: string): Promise<Lease | null>;
  heartbeat(lease: LeaseProof): Promise<void>;
  /** The job is done; its result waits to be collected. */
  ack(lease: LeaseProof, result: unknown): Promise<void>;
  /** Gives the job back, to be tried again after `delayMs` (0 if unsaid), unless that was its last attempt. */
  nack(lease: LeaseProof, reason: string, delayMs?: number): Promise<"waiting" | "dead">;
  /** Holds for `noticeMs`, or until the node says otherwise. */
  announce(notice: NodeNotice): Promise<void>;
  nodes(): Promise<NodeNotice[]>;
  /** Results of a run that nobody has in hand, at most `limit`; null if there are none. Settle the batch once they are safe. */
  collect(run: string, limit?: number): Promise<Batch | null>;
  /** Never gives these results again. @throws ShinkenError `lease_lost` where the batch has expired or was settled */
  settle(claim: string): Promise<void>;
  /** The oldest first. */
  dead(run?: string): Promise<DeadJob[]>;
  /** What a run is, told by its submitter: the first telling stands. Plain JSON. */
  describe(run: string, description: unknown): Promise<void>;
  description(run: string): Promise<unknown>;
  /** Removes all of a run, its leases and its ids too. */
  forget(run: string): Promise<void>;
  stats(): Promise<QueueStats>;
  /** Idempotent. What was leased stays leased until its time is over. */
  close(): Promise<void>;
}

export interface QueueOptions {
  /** Milliseconds; 30,000 if unsaid. */
  leaseMs?: number | undefined;
  /** Unix milliseconds; the host's clock if unsaid. */
  now?: (() => number) | undefined;
}

export const defaultLeaseMs = 30_000;
/** How long a node counts as there after it has told of itself. */
export const noticeMs = 60_000;
/** How long a collector may have results in hand. */
export const claimMs = 60_000;
/** Results in a batch if nobody says. */
export const defaultBatch = 100;
export const defaultAttempts = 3;
/** Why a job is dead whose last lease ran out. */
export const leaseRanOut = "the lease ran out: its node died, hangs, or lost its way to the queue";
