/** WebArena-Verified's task file: 812 typed tasks, each with evaluators for the agent's response and for what it sent. */
import { z } from "zod";
import { ShinkenError } from "../../errors/index.js";
import { parseOrThrow } from "../../errors/parse.js";
import { record } from "../../errors/record.js";
import { json, jsonFields } from "../../verifiers/assertions/json-value.js";
import { kindNames } from "./kinds.js";
import { siteNames } from "./sites.js";
import { readPath } from "./paths.js";

/** The types that a schema may name; an unknown one is a fault of the task file. */
const kind = z.enum([...kindNames] as [string, ...string[]]);

export interface ValueSchema {
  type?: string | undefined;
  format?: string | undefined;
  title?: string | undefined;
  items?: ValueSchema | undefined;
  properties?: Record<string, ValueSchema> | undefined;
}

const valueSchema: z.ZodType<ValueSchema> = z.strictObject({
  type: z.union([kind, z.literal("array"), z.literal("object")]).optional(),
  format: kind.optional(),
  title: z.string().optional(),
  get items() {
    return valueSchema.optional();
  },
  get properties() {
    return record(z.string(), valueSchema).optional();
  },
});

const filled = z.string().min(1);
const fields = jsonFields;

const responseEvaluator = z.strictObject({
  evaluator: z.literal("AgentResponseEvaluator"),
  ordered: z.boolean().default(false),
  results_schema: valueSchema,
  expected: z.strictObject({
    task_type: z
      .string()
      .toUpperCase()
      .pipe(z.enum(["RETRIEVE", "MUTATE", "NAVIGATE"])),
    status: z
      .string()
      .toUpperCase()
      .pipe(
        z.enum([
          "SUCCESS",
          "ACTION_NOT_ALLOWED_ERROR",
          "PERMISSION_DENIED_ERROR",
          "NOT_FOUND_ERROR",
          "DATA_VALIDATION_ERROR",
          "UNKNOWN_ERROR",
        ]),
      ),
    retrieved_data: z.array(json).nullable().optional(),
  }),
});

const pathFields = fields.superRefine((given, context) => {
  for (const name of Object.keys(given)) {
    if (readPath(name) !== undefined) continue;
    context.addIssue({ code: "custom", path: [name], message: "this path into the data cannot be read" });
  }
});

const networkEvaluator = z.strictObject({
  evaluator: z.literal("NetworkEventEvaluator"),
  last_event_only: z.boolean().default(true),
  ignored_query_params: z.array(z.string()).optional(),
  ignored_query_params_patterns: z.array(z.string()).optional(),
  decode_base64_query: z.boolean().default(false),
  query_params_schema: valueSchema.optional(),
  post_data_schema: valueSchema.optional(),
  ignored_post_data_params_patterns: z.array(z.string()).optional(),
  should_not_exist: z.boolean().default(false),
  expected: z.strictObject({
    url: z.union([filled, z.array(filled)]),
    headers: fields.nullable().optional(),
    query_params: record(z.string(), z.array(z.string())).nullable().optional(),
    post_data: pathFields.nullable().optional(),
    response_content: pathFields.nullable().optional(),
    response_status: z.number().int().default(200),
    http_method: z.string().default("GET"),
    response_cookies: fields.nullable().optional(),
  }),
});

const task = z
  .strictObject({
    task_id: z.number().int().min(0),
    intent_template_id: z.number().int(),
    sites: z.array(z.enum(siteNames)).min(1),
    start_urls: z.array(filled),
    intent: filled,
    intent_template: filled,
    instantiation_dict: fields,
    revision: z.number().int().min(1),
    eval: z.array(z.discriminatedUnion("evaluator", [responseEvaluator, networkEvaluator])).min(1),
  })
  .refine((one) => one.eval.some(({ evaluator }) => evaluator === "AgentResponseEvaluator"), {
    path: ["eval"],
    error: "needs an AgentResponseEvaluator",
  });

export type WebArenaVerifiedTask = z.output<typeof task>;
export type ResponseEvaluator = z.output<typeof responseEvaluator>;
export type NetworkEvaluator = z.output<typeof networkEvaluator>;

/**
 * Every task of a file, by its id.
 * @throws ShinkenError `bad_task` with the path of the first fault
 */
export function parseTasks(file: unknown): Map<number, WebArenaVerifiedTask> {
  if (!Array.isArray(file)) {
    throw new ShinkenError("bad_task", "the file holds no list of tasks", {
      path: "",
      suggestion: "name WebArena-Verified's own task file, webarena-verified.json",
    });
  }
  const tasks = new Map<number, WebArenaVerifiedTask>();
  for (const [index, given] of file.entries()) {
    const one = parseOrThrow(task, given, "bad_task", [index]);
    if (tasks.has(one.task_id)) {
      throw new ShinkenError("bad_task", `[${index}].task_id: there are two tasks ${one.task_id}`, {
        path: `[${index}].task_id`,
        suggestion: "give every task a number of its own",
      });
    }
    tasks.set(one.task_id, one);
  }
  return tasks;
}

/** What the agent is to do, as the first response evaluator says. */
export function taskType(one: WebArenaVerifiedTask): "RETRIEVE" | "MUTATE" | "NAVIGATE" {
  for (const evaluator of one.eval) {
    if (evaluator.evaluator === "AgentResponseEvaluator") return evaluator.expected.task_type;
  }
  throw new Error("a parsed task has a response evaluator");
}
