import type { TaskVariant } from "../env/task/index.js";
import { type Operator, scriptedPlayer } from "./operator.js";

/** Plays the task's own reference solution, one action a step. It must score 1. */
export const oracleOperator: Operator = {
  name: "oracle",
  scripted: true,
  play: (variant) => scriptedPlayer(oracleSteps(variant)),
};

/** The oracle's steps; a solution that does not declare its end is done after its last action. */
export function oracleSteps(variant: TaskVariant): unknown[][] {
  const actions = variant.task.oracle;
  const last = actions.at(-1)?.type;
  const ended = last === "done" || last === "fail";
  return [...actions, ...(ended ? [] : [{ type: "done" }])].map((action) => [action]);
}
