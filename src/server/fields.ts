/** Fields that several requests have. */
import { z } from "zod";
import { maxCheckpointMiB } from "../env/checkpoints.js";

export const id = z.int().min(0);
/** Names appear in logs and paths, so they hold no surprises. */
export const name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/, {
  error: "1 to 64 letters, digits, '.', '_', ':' or '-', starting with a letter or digit",
});

/** What a recorder is told of an episode, and what it must leave out. */
export const maxLabels = 16;
const maxSecrets = 64;

export const labels = (atMost: number) =>
  z
    .record(name, z.union([z.string().max(256), z.number(), z.boolean()]))
    .refine((given) => Object.keys(given).length <= atMost, `at most ${atMost} labels`);
export const secrets = z.strictObject({
  values: z.array(z.string().min(6).max(4_096)).max(maxSecrets).optional(),
  variables: z.array(z.string().min(1).max(256)).max(maxSecrets).optional(),
});
export const checkpoints = z.strictObject({
  budget_mib: z.int().min(1).max(maxCheckpointMiB).optional(),
});
