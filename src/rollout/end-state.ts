/** End states that nobody played: what an episode left, changed by steps and by what the agent is taken to have said. */
import type { EpisodeRecord } from "../env/session/episode.js";
import type { Session } from "../env/session/session.js";
import { runSteps } from "../env/setup/steps.js";
import type { Step, TaskVariant } from "../env/task/index.js";
import type { Sandbox } from "../sandbox/sandbox.js";

export interface StateChange {
  steps: readonly Step[];
  /** What the agent said otherwise; fields that are undefined stay. */
  episode?: { [Field in "answer" | "end" | "reason"]?: EpisodeRecord[Field] | undefined } | undefined;
  /** Path that stands before the steps' own in messages. */
  at: string;
}

/** The same for all changes: equal steps give equal states. */
const changeSeed = new Uint8Array(32);

/**
 * Changes a fork of a session's machine and hands it, with the episode's record, to `grade`; the fork is closed afterwards. Rejects
 * with `setup_failed` if a step fails.
 */
export async function withChange<T>(
  session: Session,
  variant: TaskVariant,
  change: StateChange,
  grade: (machine: Sandbox, record: EpisodeRecord) => Promise<T>,
): Promise<T> {
  const { machine, record } = session.episode();
  const fork = await machine.fork("branch", { seed: changeSeed });
  try {
    await runSteps(fork, change.steps, { readAsset: (path) => variant.readAsset(path), at: change.at });
    const said = Object.fromEntries(
      Object.entries(change.episode ?? {}).filter(([, value]) => value !== undefined),
    );
    return await grade(fork, { ...record, ...said });
  } finally {
    await fork.close();
  }
}
