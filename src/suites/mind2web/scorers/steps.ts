/** Mind2Web: element accuracy, operation F1, step success and task success over the steps of one or more tasks. */
import { z } from "zod";
import { defineScorer, given, type Outcome } from "../../scorer.js";
import { operationF1, strictOperationF1 } from "./operation.js";

const step = z.strictObject({
  /** The element that was chosen; null if the model chose none. */
  element: z.string().nullable(),
  /** What it was to do, e.g. `TYPE new york`. */
  operation: z.string(),
  /** The elements that are right. None: the ranker lost them, and the step is lost with them. */
  elements: z.array(z.string()),
  label: z.string(),
});

const input = z.strictObject({
  tasks: z.array(z.strictObject({ steps: z.array(step).min(1) })).min(1),
});

export interface Mind2WebScore {
  element_accuracy: number;
  operation_f1: number;
  step_success: number;
  /** The share of tasks whose every step succeeded. */
  task_success: number;
  /** The same three, averaged within each task first. */
  macro: { element_accuracy: number; operation_f1: number; step_success: number };
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

function scoreStep(
  { element, operation, elements, label }: z.output<typeof step>,
  f1: typeof operationF1,
): { element_accuracy: number; operation_f1: number; step_success: number } {
  if (element === null || elements.length === 0) {
    return { element_accuracy: 0, operation_f1: 0, step_success: 0 };
  }
  const right = Number(elements.includes(element));
  const agreement = f1({ pred: operation, label });
  return {
    element_accuracy: right,
    operation_f1: agreement,
    step_success: Number(right === 1 && agreement === 1),
  };
}

const measures = ["element_accuracy", "operation_f1", "step_success"] as const;

const scoreWith =
  (f1: typeof operationF1) =>
  ({ tasks }: z.output<typeof input>): Outcome<Mind2WebScore> => {
    const scored = tasks.map(({ steps }) => steps.map((one) => scoreStep(one, f1)));
    const all = scored.flat();
    const [element, operation, success] = measures.map((name) => mean(all.map((one) => one[name])));
    const [macroElement, macroOperation, macroSuccess] = measures.map((name) =>
      mean(scored.map((steps) => mean(steps.map((one) => one[name])))),
    );
    return given({
      element_accuracy: element ?? 0,
      operation_f1: operation ?? 0,
      step_success: success ?? 0,
      task_success: mean(scored.map((steps) => Number(steps.every((one) => one.step_success === 1)))),
      macro: {
        element_accuracy: macroElement ?? 0,
        operation_f1: macroOperation ?? 0,
        step_success: macroSuccess ?? 0,
      },
    });
  };

export const mind2webSteps = defineScorer({
  name: "mind2web.steps",
  version: 1,
  input,
  score: { faithful: scoreWith(operationF1), strict: scoreWith(strictOperationF1) },
  reward: ({ task_success }) => task_success,
});
