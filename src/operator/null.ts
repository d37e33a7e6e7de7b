import { type Operator, scriptedPlayer } from "./operator.js";

/** Does nothing at all. It must score 0. */
export const nullOperator: Operator = { name: "null", scripted: true, play: () => scriptedPlayer([]) };
