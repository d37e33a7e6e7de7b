/** Goes on from a step of a recorded episode with other actions. */
import { relative, resolve } from "node:path";
import type { BranchSource } from "../../env/environment.js";
import type { Session } from "../../env/session/session.js";
import { ShinkenError } from "../../errors/index.js";
import type { Bundle, BundleStep, SessionFacts } from "../../replay/index.js";
import { folderOf } from "../../replay/read/reader.js";
import { rerun, type RerunOptions } from "./rerun.js";
import { notRepeatable } from "./rerun-opener.js";

export interface BranchOptions extends Pick<RerunOptions, "open" | "onStep" | "folder"> {
  /** The branch continues from the state after this step; 0: after the reset. */
  step: number;
  /** What becomes of what would leave the machine from there on; `refuse` if unsaid. */
  effects?: BranchSource["effects"];
}

export interface Branch {
  /** Its next step is the one after `step`; the caller's to close. */
  session: Session;
  /** For the bundle of the branch. */
  parent: NonNullable<SessionFacts["parent"]>;
  /** What was done up to there, with what a model read and wrote for it. */
  before: BundleStep[];
}

/**
 * A branch of a recorded episode: it is run again up to the step, each state on the way compared with the recorded one, and forked
 * there. So its machine is that of the recording but for what makes forks unique. Rejects as `rerun`, with `not_repeatable` (path
 * `state`) where a state is not as recorded, and with `episode_over` after the episode's last step.
 */
export async function branchBundle(bundle: Bundle, options: BranchOptions): Promise<Branch> {
  const { step, open, onStep, folder } = options;
  const effects = options.effects ?? "refuse";
  if (effects === "mock")
    throw new ShinkenError(
      "bad_request",
      "effects: no machine has a way out of which answers could be mocked",
      {
        path: "effects",
        suggestion:
          "refuse: a machine reaches only its task's services, and the branch has its own copies of those",
      },
    );
  const before = bundle.steps.filter((one) => one.step <= step && one.observation !== null);
  const last = before.at(-1)?.observation;
  if (last?.step === step && (last.terminated || last.truncated))
    throw new ShinkenError("episode_over", `the episode is over after step ${step}`, {
      path: "step",
      suggestion: "branch from an earlier step",
    });
  const { session, difference } = await rerun(bundle, {
    open,
    onStep,
    folder,
    until: step,
    compare: ["state"],
  });
  try {
    if (difference !== null)
      throw notRepeatable("state", `after step ${difference.step}: ${difference.detail}`);
    const branch = await session.fork();
    const home = folderOf(resolve(bundle.file), folder === undefined ? {} : { folder: resolve(folder) });
    const file = relative(home, resolve(bundle.file));
    return { session: branch, parent: { episode: bundle.session.episode, file, step, effects }, before };
  } finally {
    await session.close();
  }
}
