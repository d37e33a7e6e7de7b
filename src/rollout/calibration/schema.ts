/** Labelled end states as data, version 1 of the format in `docs/calibration.md`. */
import { z } from "zod";
import { actionSpec } from "../../env/task/schema.js";
import { step } from "../../env/task/steps.js";
import { jsonFields } from "../../verifiers/assertions/json-value.js";
import { judgementRecord } from "./record.js";

/** Version of the format of label files. */
export const LABELS_FORMAT = 1;

/** What a person says of an end state: done as asked, not done, or a case about which people would argue. */
export const labels = ["right", "nearly", "wrong"] as const;
export type Label = (typeof labels)[number];

export const label = z.enum(labels);
const person = z.string().trim().min(1, "must name who labelled it").max(128);
const note = z.string().trim().min(1, "must say why");

/** What changes of what the agent said. */
export const said = z.strictObject({
  answer: z.string().nullable().optional(),
  end: z.enum(["done", "fail", "none"]).optional(),
  reason: z.string().nullable().optional(),
});

const endState = z
  .strictObject({
    /** Unique among the states of its task. */
    id: z
      .string()
      .max(64)
      .regex(/^[a-z0-9][a-z0-9_-]*$/, "may hold a-z, 0-9, _ and -"),
    /** The file's, unless said. */
    task: z.string().min(1).optional(),
    /** Parameters by value; the rest is drawn by seed 0. */
    params: jsonFields.optional(),
    /** Draws all parameters. */
    seed: z.int().min(0).optional(),
    /** What it begins with: the machine as the oracle leaves it, or as an episode begins. */
    from: z.enum(["solved", "golden"]).default("solved"),
    /** Played by an agent, from the golden. */
    actions: z.array(actionSpec).default([]),
    /** Steps, as in a task's mutations, after that. */
    steps: z.array(step).default([]),
    episode: said.optional(),
    label,
    note,
    /** The file's, unless said. */
    by: person.optional(),
    /** Program and label have been seen to agree: from then on another verdict is a regression. */
    agreed: z.boolean().default(false),
    /** What a judge said of this state. */
    judge: judgementRecord.optional(),
  })
  .refine((state) => state.params === undefined || state.seed === undefined, {
    error: "takes params or a seed, not both",
    path: ["seed"],
  })
  .refine((state) => state.from === "golden" || state.actions.length === 0, {
    error: "an oracle's episode is over: actions need from: golden",
    path: ["actions"],
  })
  .refine((state) => state.label !== "nearly" || !state.agreed, {
    error: "people argue about it, so no verdict can agree with it",
    path: ["agreed"],
  });

export const labelFile = z
  .strictObject({
    format: z.literal(LABELS_FORMAT),
    /** Folder of the tasks, from this file's. */
    tasks: z.string().min(1).optional(),
    task: z.string().min(1).optional(),
    by: person.optional(),
    states: z.array(endState).min(1, "holds no states"),
  })
  .superRefine((file, context) => {
    for (const [index, state] of file.states.entries()) {
      for (const name of ["task", "by"] as const) {
        if (state[name] === undefined && file[name] === undefined)
          context.addIssue({
            code: "custom",
            path: ["states", index, name],
            message: "missing, here and of the file",
          });
      }
    }
  });

export type LabelFile = z.output<typeof labelFile>;
export type StateSpec = z.output<typeof endState>;

/** JSON Schema (draft 2020-12) of a label file, for editors. */
export function labelsJsonSchema(): Record<string, unknown> {
  return {
    ...z.toJSONSchema(labelFile, { io: "input", unrepresentable: "any", reused: "ref" }),
    title: "Shinken Gym labelled end states",
  };
}
