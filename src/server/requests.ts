/** The edge: every request of the native dialect is parsed here, once, and is a typed value behind it. */
import { z } from "zod";
import { decisionSchema } from "../env/decision.js";
import { ShinkenError } from "../errors/index.js";
import { nearest } from "../errors/nearest.js";
import { parseOrThrow } from "../errors/parse.js";
import { type Operation, operations } from "../wire/index.js";
import { checkpoints, id, labels, maxLabels, name, secrets } from "./fields.js";
import { rolloutSchemas } from "./rollouts/requests.js";

const params = z.record(z.string(), z.unknown());
const actions = z.array(z.unknown()).max(64);

const schemas = {
  hello: z.strictObject({
    id,
    op: z.literal("hello"),
    protocol: z.int().min(1),
    client: z.string().max(128).optional(),
  }),
  create: z.strictObject({
    id,
    op: z.literal("create"),
    session: name.optional(),
    task: z.string().min(1).max(256).optional(),
    image: z.string().min(1).max(256).optional(),
    environment: z.string().min(1).max(64).optional(),
    from: z
      .strictObject({
        bundle: z.uuid({ error: "the id of an episode" }),
        step: z.int().min(0),
        effects: z.enum(["refuse", "mock"]).optional(),
      })
      .optional(),
    grace_s: z.number().min(0).optional(),
    checkpoints: checkpoints.optional(),
    record: z.boolean().optional(),
    labels: labels(maxLabels).optional(),
    secrets: secrets.optional(),
  }),
  reset: z.strictObject({
    id,
    op: z.literal("reset"),
    session: name,
    seed: z.int().min(0).optional(),
    params: params.optional(),
  }),
  step: z.strictObject({
    id,
    op: z.literal("step"),
    session: name,
    step: z.int().min(1),
    actions,
    decision: decisionSchema.optional(),
  }),
  evaluate: z.strictObject({ id, op: z.literal("evaluate"), session: name }),
  observe: z.strictObject({ id, op: z.literal("observe"), session: name }),
  fork: z.strictObject({
    id,
    op: z.literal("fork"),
    session: name,
    as: name.optional(),
    at_step: z.int().min(0).optional(),
  }),
  cancel: z.strictObject({ id, op: z.literal("cancel"), session: name }),
  detach: z.strictObject({ id, op: z.literal("detach"), session: name }),
  attach: z.strictObject({ id, op: z.literal("attach"), session: name, token: z.string().max(128) }),
  close: z.strictObject({ id, op: z.literal("close"), session: name }),
  list: z.strictObject({
    id,
    op: z.literal("list"),
    what: z.enum(["sessions", "tasks", "checkpoints"]),
    session: name.optional(),
  }),
  ...rolloutSchemas,
} satisfies Record<Operation, z.ZodObject>;

export type RequestOf<Op extends Operation> = z.infer<(typeof schemas)[Op]>;
export type Request = { [Op in Operation]: RequestOf<Op> }[Operation];

/**
 * Parses a decoded message. Throws `bad_request` or `unknown_op`, with the path of the fault and, for a misspelt key
 * or operation, the one that was probably meant.
 */
export function parseRequest(message: unknown): Request {
  if (typeof message !== "object" || message === null || Array.isArray(message)) {
    throw new ShinkenError("bad_request", "a request is a map", { path: "(message)" });
  }
  const op = (message as { op?: unknown }).op;
  if (typeof op !== "string") {
    const path = "op";
    throw new ShinkenError("bad_request", "op: a string is required", {
      path,
      suggestion: operations.join(", "),
    });
  }
  if (!Object.hasOwn(schemas, op)) {
    const meant = nearest(op, operations);
    throw new ShinkenError("unknown_op", `there is no operation '${op.slice(0, 64)}'`, {
      path: "op",
      suggestion: meant === undefined ? operations.join(", ") : `did you mean "${meant}"?`,
    });
  }
  const schema: z.ZodType<Request> = schemas[op as Operation];
  return parseOrThrow(schema, message, "bad_request");
}

/** The id of a message that may be anything, so that even a refusal can be matched; null where there is none. */
export function requestId(message: unknown): number | null {
  if (typeof message !== "object" || message === null) return null;
  const parsed = id.safeParse((message as { id?: unknown }).id);
  return parsed.success ? parsed.data : null;
}
