/**
 * The task as data, version 1 of the format in `docs/tasks.md`. This is the schema of a *variant*: every
 * `{param: name}` has been replaced by its value (see `references.ts`), so what is inside the house is plain.
 */
import { z } from "zod";
import { record, refusingPrototype } from "../../errors/record.js";
import { guestPath } from "../../verifiers/channels/describe.js";
import { channelNames } from "../../verifiers/channels/schema.js";
import { graphNode, nodeId } from "../../verifiers/schema.js";
import { paramSpecs } from "./params.js";
import { probe, step } from "./steps.js";

/** Version of the task format. */
export const TASK_FORMAT = 1;

const positive = z.number().positive();

/** Budget of one phase. Guest time and instructions belong to the machine; wall seconds are a safety net. */
function phase(defaults: { guest_seconds: number; wall_seconds: number }) {
  return z
    .strictObject({
      guest_seconds: positive.default(defaults.guest_seconds),
      instructions: z.int().positive().optional(),
      wall_seconds: positive.default(defaults.wall_seconds),
    })
    .prefault({});
}

export const limits = z.strictObject({
  /** Steps after which the episode is truncated. */
  steps: z.int().positive().max(100_000).default(50),
  setup: phase({ guest_seconds: 600, wall_seconds: 300 }),
  agent: phase({ guest_seconds: 3_600, wall_seconds: 3_600 }),
  verify: phase({ guest_seconds: 120, wall_seconds: 120 }),
});

/** What an agent may use of a shell machine. */
export const agentCapabilities = ["exec", "files", "shell"] as const;

export const capabilities = z.strictObject({
  agent: z.array(z.enum(agentCapabilities)).default([...agentCapabilities]),
  grader: z.array(z.enum(channelNames)).default([...channelNames]),
  /** The machine has no network; the field is there so that a task can say so. */
  network: z.literal("none").default("none"),
});

/** An action of the ACI; its fields are checked by the ACI's own schema. */
export const actionSpec = refusingPrototype(z.looseObject({ type: z.string().min(1) }));

export const mutation = z
  .strictObject({
    id: nodeId,
    /** Steps run in a fork of the solved machine. */
    steps: z.array(step).default([]),
    /** Changes to what the agent said. */
    episode: z
      .strictObject({
        answer: z.string().nullable().optional(),
        end: z.enum(["done", "fail", "none"]).optional(),
        reason: z.string().nullable().optional(),
      })
      .optional(),
    /** Nodes that must no longer pass; none named: the verdict as a whole. */
    flips: z.array(nodeId).default([]),
  })
  .refine((value) => value.steps.length > 0 || value.episode !== undefined, "needs steps or episode");

/** Machines beside the agent's. */
const SERVICE_LIMIT = 8;

export const service = z.strictObject({
  /** Its host name on the switch, and how checks name it. */
  name: z
    .string()
    .max(63)
    .regex(/^[a-z]([a-z0-9-]*[a-z0-9])?$/, "must be a host name of lower-case letters, digits and -"),
  image: z.string().min(1).default("shell"),
  memory_mib: z.int().min(64).max(4_096).default(256),
  setup: z.array(step).default([]),
  ready: z.array(probe).default([]),
});

export const verify = z.strictObject({
  /** Steps run in the grading fork before the checks: ask a program to save, never kill it. */
  prepare: z.array(step).default([]),
  /** Score from which the verdict is passed. */
  threshold: z.number().gt(0).max(1).default(1),
  graph: graphNode,
});

const assetPath = z
  .string()
  .min(1)
  .max(512)
  .refine(
    (path) =>
      !path.startsWith("/") &&
      !path.includes("\0") &&
      !path.split("/").some((part) => part === "" || part === "." || part === ".."),
    "must be a plain path inside the task's folder",
  );

export const asset = z.strictObject({
  sha256: z.string().regex(/^[0-9a-f]{64}$/, "must be 64 lower-case hex digits"),
  /** Grading assets never enter the golden or the agent's machine. */
  for: z.enum(["setup", "grading"]),
});

export const taskSchema = z.strictObject({
  /** Version of this format. */
  format: z.literal(TASK_FORMAT).default(TASK_FORMAT),
  id: z
    .string()
    .max(128)
    .regex(/^[a-z0-9][a-z0-9._/-]*$/, "may hold a-z, 0-9, . _ / - and starts with a letter or digit"),
  version: z.string().regex(/^\d+\.\d+\.\d+$/, 'must be a version like "1.0.0"'),
  instruction: z.string().min(1).max(65_536),
  image: z.string().min(1).default("shell"),
  memory_mib: z.int().min(64).max(4_096).default(512),
  tags: z.array(z.string().min(1)).default([]),
  /** `eval`: for measuring only; exports of training data leave its episodes out. */
  use: z.literal("eval").optional(),
  params: paramSpecs.default({}),
  /** Further machines, on a switch with the agent's. */
  services: z.array(service).max(SERVICE_LIMIT).default([]),
  /** What a sensible agent does: act, refuse the request, or ask back. */
  expect: z.enum(["act", "refuse", "ask"]).default("act"),
  setup: z.array(step).default([]),
  ready: z.array(probe).default([]),
  limits: limits.prefault({}),
  capabilities: capabilities.prefault({}),
  /** Folder in which the agent's commands start. */
  cwd: guestPath.optional(),
  verify,
  oracle: z.array(actionSpec).min(1),
  mutations: z.array(mutation).default([]),
  human: z.strictObject({ steps: z.int().positive(), seconds: positive }).optional(),
  assets: record(assetPath, asset).default({}),
});

/** A task whose parameters have all been filled in. */
export type Task = z.output<typeof taskSchema>;
export type Limits = z.output<typeof limits>;
export type ActionSpec = z.output<typeof actionSpec>;
export type Mutation = z.output<typeof mutation>;
export type VerifySpec = z.output<typeof verify>;
export type ServiceSpec = z.output<typeof service>;
export type AssetSpec = z.output<typeof asset>;
