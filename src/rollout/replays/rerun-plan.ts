/** What of a bundle is to be run again, and whether that can be done at all. */
import type { Bundle, BundleStep } from "../../replay/index.js";
import { ShinkenError } from "../../errors/index.js";
import { notRepeatable } from "./rerun-opener.js";

export interface RerunPlan {
  /** The state that the steps start from: after the reset, or after the parent's step. */
  start: BundleStep;
  /** Those to do, in order. */
  steps: BundleStep[];
}

/** Markers of a step that may have changed the machine without having been answered. */
const halfDone = new Set(["cancelled", "failed"]);

/**
 * The steps of a bundle up to `until` (all answered ones if unsaid). Throws `bad_request` where there is no such step, and
 * `not_repeatable`, whose `path` names `fork.seed`, `params`, `actions` or `steps`.
 */
export function planOf(bundle: Bundle, until: number | undefined): RerunPlan {
  const { session, start, steps } = bundle;
  const base = session.parent?.step ?? 0;
  const answered = steps.filter(({ step, observation }) => step > base && observation !== null);
  const last = answered.at(-1)?.step ?? base;
  const end = until ?? last;
  if (end < base || end > last)
    throw new ShinkenError("bad_request", `there is no step ${end} in ${bundle.file}`, {
      path: "step",
      suggestion:
        end < base
          ? `it is a branch from step ${base}: its parent has that step`
          : `it has steps up to ${last}`,
    });
  if (session.fork?.seed == null) throw notRepeatable("fork.seed", "the seed of its machine was not kept");
  if (session.redacted?.some((path) => path.startsWith("/params")) === true)
    throw notRepeatable("params", "a parameter of its task was a secret, which is not recorded");
  const wanted = answered.filter(({ step }) => step <= end);
  for (const [index, { step }] of wanted.entries())
    if (step !== base + index + 1) throw notRepeatable("steps", `step ${base + index + 1} is missing`);
  for (const step of wanted) checkStep(step);
  return { start, steps: wanted };
}

/**
 * Throws `not_repeatable` where a verdict was given, or could be, on a machine that had begun a step which nobody answered: what it had
 * done by then is not recorded.
 */
export function checkEnd({ steps }: Bundle): void {
  const last = steps.at(-1);
  if (last?.observation === null) checkStep(last);
}

/** Throws `not_repeatable` where what followed step `base` of the episode may have been half done when it was branched. */
export function checkBegun({ steps }: Bundle, base: number): void {
  const next = steps.find(({ step }) => step === base + 1);
  if (next !== undefined) checkStep({ ...next, actions: [] });
}

function checkStep({ step, actions, others }: BundleStep): void {
  const broken = others.find(
    (event) => !("foreign" in event) && event.channel === "marker" && halfDone.has(event.kind),
  );
  if (broken !== undefined && "kind" in broken)
    throw notRepeatable(
      "steps",
      `step ${step} was ${String(broken.kind)} before it was done, and what the machine had done by then is not recorded`,
    );
  const secret = actions.find(({ redacted }) => redacted !== undefined && redacted.length > 0);
  if (secret !== undefined)
    throw notRepeatable("actions", `action ${secret.action_id ?? step} held a secret, which is not recorded`);
}
