/** What a recorder needs to know of an episode, beyond what its client is told. Nothing of it is shown to agents. */

/** All that was random or of the moment in a fork: with the golden, it gives the same machine again, bit for bit. */
export interface ForkOrigin {
  kind: "replica" | "branch";
  /** 32 bytes in hex; null where it was not kept (a session that is not recorded). */
  seed: string | null;
  /** Wall clock that the fork was told; null: the golden's, or the parent's, went on. */
  clock: { seconds: number; nanoseconds: number } | null;
}

/** Where an episode began. */
export interface Provenance {
  taskVersion: string;
  verifierVersion: string;
  /** Digest of the variant. */
  variant: string;
  params: Record<string, unknown>;
  /** Run seed; null if nobody seeded. */
  seed: number | null;
  image: string;
  /** Digest of the image as it was then; absent where machines have none. */
  imageDigest?: string | undefined;
  /** Digest of the golden: of what it was made from. */
  golden: string;
  fork: ForkOrigin;
  /** `eval`: the task is for measuring only, nobody trains on its episodes. */
  use?: "eval" | undefined;
  /** What the agent may do. */
  granted?: readonly string[] | undefined;
}

/** The state of an episode's machine between steps. */
export interface StateMark {
  step: number;
  /** Equal digests mean bit-identical machines. */
  digest: string;
  /** Since reset. */
  instructions: number;
  guestMs: number;
}
