/** Who goes on from a step of a recorded episode. */
import { isDeepStrictEqual } from "node:util";
import type { ResetResult, StepResult } from "../../env/environment.js";
import type { TaskVariant } from "../../env/task/index.js";
import type { Operator, PastStep, Player } from "../../operator/index.js";
import type { Bundle, BundleStep } from "../../replay/index.js";

/**
 * A player for the rest of an episode. A scripted operator that would have done what was done so far goes on with what it does next,
 * and else begins anew, in the state that it finds. Any other is not asked again what was decided already: it begins in that state,
 * and is told what was done before, with what a model read and wrote for it.
 */
export async function playerFrom(
  operator: Operator,
  variant: TaskVariant,
  bundle: Bundle,
  before: readonly BundleStep[],
): Promise<Player> {
  if (operator.scripted !== true) return operator.play(variant, before.flatMap(pastOf));
  const player = operator.play(variant);
  // A branch tells nothing of what its parent did.
  if (bundle.start.observation === null) return player;
  let last: BundleStep = bundle.start;
  for (const step of before) {
    const turn = await player.next(resultOf(last));
    if (
      !isDeepStrictEqual(
        turn?.actions,
        step.actions.map(({ action }) => action),
      )
    )
      return operator.play(variant);
    last = step;
  }
  return player;
}

function pastOf({ actions, observation, decisions }: BundleStep): PastStep[] {
  if (observation === null) return [];
  return [
    {
      actions: actions.map(({ action }) => action),
      observation: observation.observation as unknown as PastStep["observation"],
      decision: decisions.at(-1) ?? null,
    },
  ];
}

function resultOf({ observation: event, rewards }: BundleStep): ResetResult | StepResult {
  if (event === null) throw new Error("the step was not answered");
  const { observation, terminated, truncated, info } = event;
  const reward = rewards.find(({ check }) => check === null)?.reward ?? 0;
  return {
    observation: observation as unknown as ResetResult["observation"],
    reward,
    terminated,
    truncated,
    info,
  };
}
