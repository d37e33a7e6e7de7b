import { nearest } from "../errors/nearest.js";
import { ShinkenError } from "../errors/index.js";
import { doneOperator } from "./done.js";
import { failOperator } from "./fail.js";
import { nullOperator } from "./null.js";
import type { Operator } from "./operator.js";
import { oracleOperator } from "./oracle.js";

export { modelOperator, modelPrefix, type ModelSettings, type ModelSettingsInput } from "./model/index.js";
export { doneOperator, failOperator, nullOperator, oracleOperator };
export {
  type Account,
  type Operator,
  type PastStep,
  type Player,
  scriptedPlayer,
  type StopReason,
  type Turn,
} from "./operator.js";
export { oracleSteps } from "./oracle.js";

/** Every operator that has a name. */
export const operators: readonly Operator[] = [oracleOperator, nullOperator, doneOperator, failOperator];

/** The operator of a name. Throws `bad_request`, with what was probably meant. */
export function operatorByName(name: string): Operator {
  const found = operators.find((operator) => operator.name === name);
  if (found !== undefined) return found;
  const names = operators.map((operator) => operator.name);
  const meant = nearest(name, names);
  throw new ShinkenError("bad_request", `there is no operator "${name}"`, {
    path: "operator",
    suggestion: meant === undefined ? `operators are ${names.join(", ")}` : `did you mean "${meant}"?`,
  });
}
