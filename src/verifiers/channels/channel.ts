/** What a channel gets to answer a query with. */
import type { Answer } from "../value.js";
import type { MachineView } from "../view.js";

/** The episode as the session saw it: the only thing a check knows beside the machine. */
export interface EpisodeFacts {
  /** The answer of `done`, or null if none was given. */
  answer: string | null;
  /** How the agent ended: `none` while it has not. */
  end: "done" | "fail" | "none";
  /** The reason of `fail`. */
  reason: string | null;
  steps: number;
  /** The actions taken, in order. */
  actions: readonly { type: string }[];
}

export interface ChannelContext {
  /** The grading fork; channels that never look into the machine do not ask for it. */
  view(): Promise<MachineView>;
  episode: EpisodeFacts;
  /** Where a grading asset lies in the fork; puts it there first. */
  placeAsset(name: string): Promise<string>;
  /** Aborts when the check's deadline has passed. */
  signal: AbortSignal;
  /** The assertion wants the file's hash. */
  wantHash: boolean;
}

/** Reads one query. Rejects with `ContentFault` for a malformed value; with anything else the check is ungraded. */
export type ReadChannel<Query> = (query: Query, context: ChannelContext) => Promise<Answer>;
