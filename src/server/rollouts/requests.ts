/** The requests of rollouts, parsed at the edge as all others are. */
import { z } from "zod";
import { rolloutBounds } from "../../rollout/pull/index.js";
import { checkpoints, id, labels, maxLabels, name, secrets } from "../fields.js";

/** Those that a rollout adds itself: rollout, group, replica, attempt, and the purpose where it is `eval`. */
const ownLabels = 5;
const maxTasks = 4096;
/** Seconds; a day. */
const maxSeconds = 86_400;

const task = z.string().min(1).max(256);
const weights = z.record(task, z.number().min(0).max(rolloutBounds.weight));

export const rolloutSchemas = {
  "rollout.open": z.strictObject({
    id,
    op: z.literal("rollout.open"),
    rollout: name.optional(),
    tasks: z.union([z.literal("all"), z.array(task).min(1).max(maxTasks)]).optional(),
    environment: z.string().min(1).max(64).optional(),
    purpose: z.enum(["train", "eval"]).optional(),
    group: z.int().min(1).max(rolloutBounds.group).optional(),
    groups: z.int().min(1).optional(),
    seed: z.int().min(0).optional(),
    seeds: z.array(z.int().min(0)).min(1).max(rolloutBounds.seeds).optional(),
    weights: weights.optional(),
    priorities: z.record(task, z.int()).optional(),
    quotas: z.record(task, z.int().min(0)).optional(),
    warm: z
      .strictObject({
        min: z.int().min(0).max(rolloutBounds.warm).optional(),
        max: z.int().min(0).max(rolloutBounds.warm).optional(),
      })
      .optional(),
    stragglers: z
      .strictObject({
        policy: z.enum(["wait", "drop", "resample"]),
        quorum: z.int().min(1).max(rolloutBounds.group).optional(),
        after_s: z.number().min(0).max(maxSeconds).optional(),
      })
      .optional(),
    attempts: z.int().min(1).max(rolloutBounds.attempts).optional(),
    grace_s: z.number().min(0).optional(),
    checkpoints: checkpoints.optional(),
    record: z.boolean().optional(),
    labels: labels(maxLabels - ownLabels).optional(),
    secrets: secrets.optional(),
  }),
  "rollout.attach": z.strictObject({
    id,
    op: z.literal("rollout.attach"),
    rollout: name,
    token: z.string().max(128),
    events: z.boolean().optional(),
    after: z.int().min(0).optional(),
  }),
  "rollout.next": z.strictObject({
    id,
    op: z.literal("rollout.next"),
    rollout: name,
    wait_s: z.number().min(0).max(maxSeconds).optional(),
  }),
  "rollout.weights": z.strictObject({ id, op: z.literal("rollout.weights"), rollout: name, weights }),
  "rollout.stats": z.strictObject({ id, op: z.literal("rollout.stats"), rollout: name }),
  "rollout.close": z.strictObject({ id, op: z.literal("rollout.close"), rollout: name }),
};
