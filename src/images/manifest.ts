import { readFileSync } from "node:fs";
import { z } from "zod";
import { ShinkenError } from "../errors/index.js";

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const packageEntry = z.strictObject({
  name: z.string().min(1),
  version: z.string().min(1),
  architecture: z.enum(["riscv64", "all"]),
  sha256: hash,
  size: z.number().int().positive(),
  /** Path below the mirror at the time of the build. */
  filename: z.string(),
});
const fileEntry = z.strictObject({ sha256: hash, size: z.number().int().nonnegative() });

/** manifest.json of an image, format 1: what it was made of and what came out. */
const manifestSchema = z.strictObject({
  format: z.literal(1),
  name: z.string().min(1),
  recipeVersion: z.number().int().positive(),
  /** Key of the root: digest of package set, recipe version and release date. */
  rootKey: hash,
  digest: hash,
  suite: z.string(),
  /** Date of the signed release, seconds since the epoch. */
  releaseDate: z.number().int().positive(),
  appendBase: z.string(),
  packages: z.array(packageEntry),
  /** Used while building, not in the image. */
  tools: z.array(packageEntry),
  kernelPackage: packageEntry,
  localesPackage: packageEntry,
  files: z.strictObject({ kernel: fileEntry, initrd: fileEntry, root: fileEntry }),
});

export type Manifest = z.infer<typeof manifestSchema>;
export type ManifestPackage = z.infer<typeof packageEntry>;

/** What of a manifest belongs to the root alone; kept beside a cached root. */
export const rootRecordSchema = manifestSchema.omit({ digest: true, appendBase: true }).extend({
  files: z.strictObject({ kernel: fileEntry, root: fileEntry }),
  modules: z.array(z.string()),
});
export type RootRecord = z.infer<typeof rootRecordSchema>;

/** Reads and checks a manifest. Throws `bad_request` with the path of what is wrong in it. */
export function readManifest(file: string): Manifest {
  return parseFile(file, manifestSchema, "manifest");
}

/** Reads the manifest of a former image called `name`. Throws `bad_request`, also for another image's. */
export function readManifestOf(name: string, file: string): Manifest {
  const manifest = readManifest(file);
  if (manifest.name === name) return manifest;
  throw new ShinkenError("bad_request", `${file} is the manifest of image ${manifest.name}, not ${name}`);
}

/** Reads a JSON file of ours by its schema. Throws `bad_request`. */
export function parseFile<T>(file: string, schema: z.ZodType<T>, what: string): T {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new ShinkenError("bad_request", `cannot read the ${what} ${file}`, { cause: error });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ShinkenError("bad_request", `${file} is no image ${what}: ${issue?.message ?? "unknown fault"}`, {
    path: issue?.path.join("."),
    cause: parsed.error,
  });
}

/** JSON with a fixed layout, so that equal manifests are equal files. */
export function formatJson(value: unknown): string {
  return `${JSON.stringify(value, null, 1)}\n`;
}
