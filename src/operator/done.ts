import { type Operator, scriptedPlayer } from "./operator.js";

/** Declares success without having done anything. It must score 0. */
export const doneOperator: Operator = {
  name: "done",
  scripted: true,
  play: () => scriptedPlayer([[{ type: "done" }]]),
};
