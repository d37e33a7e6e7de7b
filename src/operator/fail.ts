import { type Operator, scriptedPlayer } from "./operator.js";

/** Declares at once that the task cannot be done. It must score 0 wherever the task can. */
export const failOperator: Operator = {
  name: "fail",
  scripted: true,
  play: () => scriptedPlayer([[{ type: "fail", reason: "I cannot do this." }]]),
};
