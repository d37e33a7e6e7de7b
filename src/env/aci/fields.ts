/** Fields that several actions share. */
import { posix } from "node:path";
import { z } from "zod";
import { aciLimits } from "./limits.js";
import type { ActionContext } from "./types.js";

const noNul = (value: string): boolean => !value.includes("\0");

function bounded(maxBytes: number, what: string) {
  return z
    .string()
    .refine((value) => Buffer.byteLength(value) <= maxBytes, `${what} is above ${maxBytes} bytes`);
}

/** A path in the guest: absolute, or relative to where the task begins; `~/` is the user's home. */
export const pathField = bounded(aciLimits.pathBytes, "path")
  .min(1)
  .refine(noNul, "a path holds no NUL character")
  .describe("Absolute path, or relative to the folder in which the task begins.");

export const commandField = bounded(aciLimits.argumentBytes, "command")
  .min(1)
  .refine(noNul, "a command holds no NUL character");

export const argumentField = bounded(aciLimits.argumentBytes, "argument").refine(
  noNul,
  "an argument holds no NUL character",
);

/** A word of a command line; a number becomes its shortest decimal, as in the steps of a task. */
export const wordField = z.union([argumentField, z.number().transform((value) => String(value))]);

export const contentField = bounded(aciLimits.inputBytes, "content");

export const timeoutField = z
  .number()
  .positive()
  .max(aciLimits.maxTimeoutS)
  .optional()
  .describe(
    `Seconds of machine time after which the command is killed; ${aciLimits.defaultTimeoutS} if unsaid.`,
  );

export const maxCharsField = z
  .int()
  .min(1)
  .max(aciLimits.maxChars)
  .optional()
  .describe(
    `Characters of output to show; ${aciLimits.defaultChars} if unsaid. The middle is left out beyond.`,
  );

/** Absolute, normalised path of what an agent wrote. */
export function resolvePath(path: string, context: ActionContext): string {
  if (path === "~") return context.home;
  if (path.startsWith("~/")) return posix.resolve(context.home, path.slice(2));
  return posix.resolve(context.cwd, path);
}

/** The time limit of a command in guest milliseconds: what was asked for, but no more than the episode has left. */
export function timeoutMs(seconds: number | undefined, context: ActionContext): number {
  const asked = Math.round((seconds ?? aciLimits.defaultTimeoutS) * 1_000);
  return Math.max(1, Math.min(asked, Math.ceil(context.remainingMs)));
}
