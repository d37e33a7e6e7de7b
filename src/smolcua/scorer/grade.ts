/** Whether an answer is right: strict, nothing in it is repaired, and nothing is looked for in it. */
import type { Contract } from "../contracts/schema.js";
import { insideFence } from "./fence.js";
import { forms } from "./forms.js";
import { answerAtMost, type Reason } from "./reasons.js";
import { trimOuter } from "./white-space.js";

export interface Grade {
  correct: boolean;
  reason: Reason;
  /** A diagnostic: right as it is, or after removal of exactly one code fence around it. */
  correctWithoutFence: boolean;
}

/**
 * Grades an answer by its contract and key, which belong together (`checkKey`).
 * @param answer null: none was given
 */
export function grade(contract: Contract, key: unknown, answer: string | null): Grade {
  if (answer === null) return wrong("missing");
  // Before anything else: what is longer costs nobody time.
  if (answer.length > answerAtMost) return wrong("too_long");
  const text = trimOuter(answer);
  if (text === "") return wrong("empty");
  const reason = read(contract, key, text);
  if (reason === "correct") return { correct: true, reason, correctWithoutFence: true };
  const inside = insideFence(text);
  if (inside === null) return wrong(reason);
  const unfenced = trimOuter(inside);
  return {
    correct: false,
    reason: "code_fence",
    correctWithoutFence: unfenced !== "" && read(contract, key, unfenced) === "correct",
  };
}

function wrong(reason: Reason): Grade {
  return { correct: false, reason, correctWithoutFence: false };
}

function read(contract: Contract, key: unknown, text: string): Reason {
  const form = forms[contract.kind] as (answer: string, contract: Contract, key: unknown) => Reason;
  return form(text, contract, key);
}
