/**
 * The channels of a bundle and what their events hold. The JSON Schema in each channel's record is made from these. Readers keep
 * fields and channels that they do not know; these schemas say what a writer of this version writes.
 */
import { z } from "zod";
import { decisionSchema } from "../../env/decision.js";

const count = z.int().min(0);
const hex = (bytes: number) => z.string().regex(new RegExp(`^[0-9a-f]{${bytes * 2}}$`));
const open = z.record(z.string(), z.unknown());

/** Where a fork came from: with the golden, all that is random in a machine. */
const forkOrigin = z.looseObject({
  kind: z.enum(["replica", "branch"]),
  seed: hex(32).nullable().describe("Seed of the fork; null where it was not kept."),
  clock: z
    .looseObject({ seconds: count, nanoseconds: count })
    .nullable()
    .describe("Wall clock that the fork was told; null: the golden's went on."),
});

const action = z.looseObject({ type: z.string() });

const session = z.looseObject({
  skn: count.describe("Version of the events in this file."),
  episode: z.string().describe("Id of this episode; no other has it."),
  task: z.string(),
  task_version: z.string(),
  verifier: z.string().nullable().describe("Version of the verifier that the task had."),
  task_set: z.string().nullable().describe("Digest of the task set; null where it is not known."),
  variant: z.string().nullable().describe("Digest of the task as its parameters decided it."),
  params: open,
  seed: count.nullable().describe("Run seed; null where nobody gave one."),
  image: z.string().nullable(),
  image_digest: hex(32)
    .optional()
    .describe("Digest of the image as it was then; its name may mean another later."),
  golden: z.string().nullable().describe("Digest of the golden: of what it was made from."),
  machine_abi: count.nullable().describe("Machines of another one do not repeat this episode."),
  provider: z.string().nullable(),
  memory: z.string().nullable().describe("Kind of guest memory; states do not depend on it."),
  fork: forkOrigin.nullable().describe("Null where there is no machine."),
  use: z
    .literal("eval")
    .optional()
    .describe("The task is for measuring only; nobody trains on its episodes."),
  granted: z.array(z.string()).optional().describe("What the agent might do, by the names of capabilities."),
  parent: z
    .looseObject({
      episode: z.string(),
      step: count.describe("The branch continues from the state after this step."),
      file: z.string().describe("The parent's bundle, relative to the folder of bundles."),
    })
    .nullable()
    .describe("Of a branch; null where the episode began with its golden."),
  labels: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .describe("What the client said of the episode: run, group, replica, operator, model."),
  runtime: z.string().describe("Name and version of the program that wrote this."),
  host: open.describe("Facts of the host that may matter: platform, processor architecture, processors."),
});

const observation = z.looseObject({
  observation: z.looseObject({ instruction: z.string().optional(), results: z.array(open) }),
  terminated: z.boolean(),
  truncated: z.boolean(),
  info: open,
});

const reward = z.looseObject({
  reward: z.number(),
  check: z.string().nullable().describe("Milestone that paid it; null for a step's whole reward."),
  partial: z.boolean().optional(),
});

const verdict = z.looseObject({
  verdict: z.looseObject({ status: z.enum(["graded", "ungraded"]), score: z.number().nullable() }),
  verifier: z.string().describe("Version of the verifier."),
  ms: z.number().describe("Host milliseconds that it took."),
});

const permission = z.looseObject({ asked: z.string(), granted: z.boolean(), by: z.string() });

const marker = z.looseObject({
  kind: z.string().describe("started, ended, cancelled, refused, branched, progress, recovered, ..."),
  message: z.string().optional(),
});

const snapshot = z.looseObject({
  digest: z.string().describe("Digest of registers, devices and memory."),
  instructions: count,
  guest_ms: z.number(),
  pages: z
    .looseObject({
      delta: z.unknown().describe("Bytes of a delta file, as the golden file's page tells it."),
    })
    .nullable()
    .describe(
      "The machine itself, as its difference from its golden; null: it was not kept, and is had by running again.",
    ),
});

const infra = z.looseObject({ code: z.string(), message: z.string() });

/** By name of the channel. The order is that of the MCAP channel ids, from 1. */
export const payloads = {
  session,
  action: z.looseObject({ action }),
  observation,
  decision: decisionSchema,
  reward,
  verdict,
  permission,
  marker,
  snapshot,
  infra,
} as const;

export type Channel = keyof typeof payloads;
export type PayloadOf<C extends Channel> = z.output<(typeof payloads)[C]>;
export type SessionFacts = PayloadOf<"session">;
export type ForkOrigin = z.output<typeof forkOrigin>;

export const channelNames = Object.keys(payloads) as Channel[];

/** What stands before every payload. */
export const envelope = z.looseObject({
  seq: count.describe("Number of the event in its file, from 0 without gaps."),
  step: count.describe("0 from the reset to the first step."),
  t_guest: z.number().nullable().describe("Guest milliseconds since the reset; null where no machine told."),
  t_wall: count.describe("Host milliseconds since 1970."),
  action_id: z.string().optional().describe("step.index of the action that this is about."),
  redacted: z.array(z.string()).optional().describe("Paths in this event whose values were secret."),
});
export type Envelope = z.output<typeof envelope>;
