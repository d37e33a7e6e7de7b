/** Steps that prepare a machine (setup, verify.prepare, mutations) and the probes that say when it is ready. */
import { z } from "zod";
import { record } from "../../errors/record.js";
import { json } from "../../verifiers/assertions/json-value.js";
import { guestPath } from "../../verifiers/channels/describe.js";

const user = z.string().regex(/^[a-z_][a-z0-9_-]*$/, "must be a user name");
/** A word of a command line; a number becomes its shortest decimal. There is no shell and no template. */
const word = z.union([z.string(), z.number().transform((value) => String(value))]);
const argv = z.array(word).min(1, "needs the program's name").max(10_000);
const env = record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be a variable name"), word).optional();

const command = {
  argv,
  /** `root` in setup and prepare if unsaid. */
  user: user.default("root"),
  cwd: guestPath.optional(),
  env,
};

export const execStep = z.strictObject({
  ...command,
  stdin: z.string().optional(),
  /** Guest seconds. */
  timeout_s: z.number().positive().max(3_600).default(60),
  /** Exit codes that count as success. */
  exit: z.array(z.int().min(0).max(255)).min(1).default([0]),
});

/** The ways to say what a file holds. */
const CONTENTS = ["text", "lines", "json", "base64", "asset"] as const;

function contentsOf(value: object): string[] {
  return CONTENTS.filter((name) => (value as Record<string, unknown>)[name] !== undefined);
}

export const writeStep = z
  .strictObject({
    path: guestPath,
    /** Exactly one source of bytes. */
    text: z.string().optional(),
    lines: z.array(z.union([z.string(), z.number().transform((value) => String(value))])).optional(),
    json: json.optional(),
    base64: z.base64().optional(),
    asset: z.string().min(1).optional(),
    mode: z
      .string()
      .regex(/^[0-7]{3,4}$/, 'must be octal digits in quotes, e.g. "0644"')
      .default("0644"),
    owner: user.default("agent"),
  })
  .refine((value) => contentsOf(value).length === 1, {
    error: (issue) =>
      `needs exactly one of ${CONTENTS.join(", ")}; has ${contentsOf(issue.input as object).join(" and ") || "none"}`,
  });

export const copyStep = z.strictObject({ from: guestPath, to: guestPath, owner: user.optional() });
export const launchStep = z.strictObject({ ...command, user: user.default("agent") });

const deadline = { deadline_s: z.number().positive().max(3_600).default(30) };

/** One condition on the machine with a deadline in guest seconds. */
export const probe = z.union([
  z.strictObject({
    process: z
      .strictObject({
        name: z.string().min(1).optional(),
        argv_contains: z.array(z.string()).min(1).optional(),
      })
      .refine(
        (value) => value.name !== undefined || value.argv_contains !== undefined,
        "needs name or argv_contains",
      ),
    ...deadline,
  }),
  z.strictObject({ port: z.int().min(1).max(65_535), ...deadline }),
  z.strictObject({ file: guestPath, ...deadline }),
  z.strictObject({
    command: z.strictObject({ ...command, exit: z.int().min(0).max(255).default(0) }),
    ...deadline,
  }),
]);

/** One step: an object with a single key that names its kind. */
export const step = z.union([
  z.strictObject({ exec: execStep }),
  z.strictObject({ write: writeStep }),
  z.strictObject({ copy: copyStep }),
  z.strictObject({ launch: launchStep }),
  z.strictObject({ wait_ready: probe }),
]);

export type Step = z.output<typeof step>;
export type ExecStep = z.output<typeof execStep>;
export type WriteStep = z.output<typeof writeStep>;
export type CopyStep = z.output<typeof copyStep>;
export type LaunchStep = z.output<typeof launchStep>;
export type Probe = z.output<typeof probe>;

/** The bytes that a `write` step puts into its file; `asset` is read by the caller's function. */
export async function writeStepBytes(
  spec: WriteStep,
  readAsset: (path: string) => Promise<Uint8Array>,
): Promise<Uint8Array> {
  if (spec.asset !== undefined) return readAsset(spec.asset);
  if (spec.base64 !== undefined) return new Uint8Array(Buffer.from(spec.base64, "base64"));
  if (spec.json !== undefined) return Buffer.from(`${JSON.stringify(spec.json, null, 2)}\n`);
  if (spec.lines !== undefined) return Buffer.from(spec.lines.map((line) => `${line}\n`).join(""));
  return Buffer.from(spec.text ?? "");
}
