/** Task files: YAML or JSON on disk, parsed once, proved, and turned into variants. */
import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ShinkenError } from "../../errors/index.js";
import { nearestPath } from "../../errors/nearest.js";
import { parseOrThrow } from "../../errors/parse.js";
import { canonicalJson, digestOf } from "../../verifiers/canonical.js";
import { channelsOf } from "../../verifiers/channels/schema.js";
import { type LoadedGraph, loadGraph, verifierVersionOf } from "../../verifiers/graph.js";
import type { ScorerLibrary } from "../../verifiers/scorer/library.js";
import { parseDocument } from "./document.js";
import { drawParams, type ParamSpecs, type ParamValues, paramSpecs } from "./params.js";
import { proveTask } from "./proofs.js";
import { fillParams } from "./references.js";
import { type Task, taskSchema } from "./schema.js";

/** Names that a task's folder may give its file, in order of preference. */
export const TASK_FILES = ["task.yaml", "task.yml", "task.json"] as const;
/** A task file larger than this is a mistake. */
const TASK_FILE_LIMIT = 4 * 1024 * 1024;
/** An asset larger than this does not belong in a task's folder. */
const ASSET_LIMIT = 256 * 1024 * 1024;
/** Seeds whose draws are proved when a task is loaded; the gates run on several more. */
const PROVED_SEEDS = [0, 1, 2];
/** Variants of one task that are kept ready, the latest used. */
const KEPT_VARIANTS = 64;

export interface VariantOptions {
  /** Draws the parameters that are not given; 0 if unsaid. */
  seed?: number | undefined;
  params?: Record<string, unknown> | undefined;
}

/** A task with its parameters filled in: what an episode plays. */
export interface TaskVariant {
  readonly task: Task;
  readonly params: ParamValues;
  /** Digest of the whole variant. */
  readonly digest: string;
  /** Digest of what makes its golden: image, memory, setup, readiness and the assets for setup. */
  readonly setupDigest: string;
  readonly graph: LoadedGraph;
  /** Reads an asset and checks its hash; rejects with `asset_mismatch`. */
  readAsset(path: string): Promise<Uint8Array>;
}

export interface LoadedTask {
  readonly id: string;
  readonly version: string;
  /** The file that it was read from; empty for a task made in memory. */
  readonly file: string;
  readonly tags: readonly string[];
  readonly paramSpecs: ParamSpecs;
  /** Digest of the task as written, parameters unfilled. */
  readonly digest: string;
  readonly verifierVersion: string;
  /** Throws `bad_request` for a parameter that is unknown or out of range. The same options give the same variant. */
  variant(options?: VariantOptions): TaskVariant;
}

export interface LoadTaskOptions {
  /** Channels that an image offers to graders; what `docs/verifiers.md` says if unsaid. */
  channelsOf?: (image: string) => readonly string[];
  /** What scorer nodes may name; unsaid: a task with one is refused. */
  scorers?: ScorerLibrary | undefined;
  /** Checks one oracle action with the ACI's own schema; throws what is wrong with it. */
  checkAction?: (action: unknown) => void;
}

/** Loads a task from its folder or its file. Rejects with `bad_task` and the path of the first fault. */
export async function loadTask(path: string, options: LoadTaskOptions = {}): Promise<LoadedTask> {
  const file = await taskFile(path);
  const { size } = await stat(file);
  if (size > TASK_FILE_LIMIT)
    throw new ShinkenError("bad_task", `${file}: larger than ${TASK_FILE_LIMIT} bytes`);
  const text = await readFile(file, "utf8");
  return makeTask(parseDocument(text, file), { ...options, file });
}

/** The task file at a path that is one or a folder with one. */
async function taskFile(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile()) return path;
  if (found?.isDirectory()) {
    for (const name of TASK_FILES) {
      const file = join(path, name);
      if ((await stat(file).catch(() => undefined))?.isFile()) return file;
    }
    throw new ShinkenError("bad_task", `${path}: holds none of ${TASK_FILES.join(", ")}`);
  }
  throw new ShinkenError("bad_task", `${path}: no such file or folder`);
}

/** Makes a task from a parsed document. `file`, if given, is where its assets lie beside. Throws `bad_task`. */
export function makeTask(document: unknown, options: LoadTaskOptions & { file?: string } = {}): LoadedTask {
  if (typeof document !== "object" || document === null || Array.isArray(document)) {
    throw new ShinkenError("bad_task", "the document: must be an object");
  }
  const raw = document as Record<string, unknown>;
  const specs = parseOrThrow(paramSpecs, raw.params ?? {}, "bad_task", ["params"]);
  const file = options.file ?? "";

  // The same values make the same variant; parsing and proving it again at every reset would be waste.
  const known = new Map<string, TaskVariant>();
  const build = (variantOptions: VariantOptions): TaskVariant => {
    const params = drawParams(specs, variantOptions.seed ?? 0, variantOptions.params);
    const key = canonicalJson(params);
    const variant = known.get(key) ?? fresh(params);
    known.delete(key);
    known.set(key, variant);
    const [oldest] = known.keys();
    if (known.size > KEPT_VARIANTS && oldest !== undefined) known.delete(oldest);
    return variant;
  };

  const fresh = (params: ParamValues): TaskVariant => {
    const task = parseOrThrow(taskSchema, fillParams(raw, params), "bad_task");
    const graph = loadGraph(task.verify.graph, {
      task: task.id,
      taskVersion: task.version,
      threshold: task.verify.threshold,
      verifierVersion: verifierVersionOf(raw.verify, gradingAssets(task)),
      channels: (options.channelsOf ?? channelsOf)(task.image).filter((name) =>
        (task.capabilities.grader as string[]).includes(name),
      ),
      assets: task.assets,
      machines: task.services.map(({ name }) => name),
      scorers: options.scorers,
      at: ["verify", "graph"],
    });
    proveTask(task, raw, graph, options.checkAction);
    return {
      task,
      params,
      digest: digestOf(task),
      setupDigest: setupDigestOf(task),
      graph,
      readAsset: (path) => readAsset(task, file, path),
    };
  };

  const sample = build({});
  if (Object.keys(specs).length > 0) for (const seed of PROVED_SEEDS.slice(1)) build({ seed });
  return {
    id: sample.task.id,
    version: sample.task.version,
    file,
    tags: sample.task.tags,
    paramSpecs: specs,
    digest: digestOf(raw),
    verifierVersion: sample.graph.verifierVersion,
    variant: (variantOptions = {}) => build(variantOptions),
  };
}

function gradingAssets(task: Task): Record<string, { sha256: string }> {
  return Object.fromEntries(Object.entries(task.assets).filter(([, asset]) => asset.for === "grading"));
}

/** Digest of what makes a golden: of the agent's machine, or of a service. */
export function setupDigestOf(
  task: Task,
  machine: Pick<Task, "image" | "memory_mib" | "setup" | "ready"> = task,
): string {
  const assets = Object.entries(task.assets).filter(([, asset]) => asset.for === "setup");
  const { image, memory_mib, setup, ready } = machine;
  return digestOf({ image, memory_mib, setup, ready, assets: Object.fromEntries(assets) });
}

async function readAsset(task: Task, file: string, path: string): Promise<Uint8Array> {
  const asset = Object.hasOwn(task.assets, path) ? task.assets[path] : undefined;
  if (asset === undefined)
    throw new ShinkenError("bad_task", `assets: there is no asset "${path}"`, { path: "assets" });
  const place = join(dirname(file), path);
  const mismatch = (why: string, cause?: unknown, suggestion?: string) =>
    new ShinkenError("asset_mismatch", `assets.${path}: ${why}`, {
      path: `assets.${path}`,
      cause,
      suggestion,
    });
  const found = await stat(place).catch(async (error: unknown) => {
    const meant = await nearestFile(path, file);
    throw mismatch("the file is missing", error, meant && `there is ${meant}`);
  });
  if (!found.isFile()) throw mismatch("not a regular file");
  if (found.size > ASSET_LIMIT) throw mismatch(`larger than ${ASSET_LIMIT} bytes`);
  const bytes = await readFile(place);
  const actual = createHash("sha256").update(bytes).digest("hex");
  if (actual !== asset.sha256) throw mismatch(`the file has sha256 ${actual}`);
  return bytes;
}

/** The file of a task's folder that a missing asset probably meant. */
async function nearestFile(path: string, file: string): Promise<string | undefined> {
  if (file === "") return undefined;
  return nearestPath(path, await readdir(dirname(file), { recursive: true }).catch(() => []));
}
