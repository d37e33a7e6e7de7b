/** Runs many recorded episodes again and says of each whether it is the same to the bit. */
import { resolve } from "node:path";
import { isInfrastructure, ShinkenError } from "../../errors/index.js";
import { type Bundle, readBundle } from "../../replay/index.js";
import { mapBounded } from "../pool.js";
import { renderTable } from "../table.js";
import type { Difference } from "./difference.js";
import { IndexedHashes } from "./indexed-hashes.js";
import { rerun, type RerunOptions } from "./rerun.js";

export interface VerifyOptions {
  files: readonly string[];
  open: RerunOptions["open"];
  /** Episodes at the same time. */
  concurrency: number;
  /** Told as each has been run. */
  onFile?: (finding: VerifiedFile, done: number, all: number) => void;
}

/**
 * What became of a file: it repeats itself, or does not; machines here are of another ABI or image; it is damaged, or holds nothing that can be
 * run again; the harness failed.
 */
export type Outcome = "equal" | "different" | "other_machine" | "unusable" | "failed";

export interface VerifiedFile {
  file: string;
  /** Null where the file does not say. */
  task: string | null;
  outcome: Outcome;
  /** Steps that were run again. */
  steps: number;
  difference: Difference | null;
  error: ShinkenError | null;
}

/** In the order of the files. Never rejects: what goes wrong is a file's own outcome. */
export async function verifyBundles(options: VerifyOptions): Promise<VerifiedFile[]> {
  let done = 0;
  const hashes = new IndexedHashes();
  return mapBounded(options.files, options.concurrency, async (file) => {
    const finding = await verify(file, options, hashes);
    done += 1;
    options.onFile?.(finding, done, options.files.length);
    return finding;
  });
}

async function verify(file: string, { open }: VerifyOptions, hashes: IndexedHashes): Promise<VerifiedFile> {
  const finding = { file, task: null as string | null, steps: 0, difference: null, error: null };
  try {
    const bundle: Bundle = await readBundle(resolve(file));
    finding.task = bundle.session.task;
    await hashes.check(bundle);
    const { session, steps, difference } = await rerun(bundle, { open });
    await session.close();
    return { ...finding, steps, difference, outcome: difference === null ? "equal" : "different" };
  } catch (cause) {
    const error =
      cause instanceof ShinkenError ? cause : new ShinkenError("internal", String(cause), { cause });
    return { ...finding, error, outcome: outcomeOf(error) };
  }
}

/** Recorded facts without which no machine here is the recorded one. */
const otherMachine: ReadonlySet<string> = new Set(["machine_abi", "image_digest"]);
const lacking: ReadonlySet<string> = new Set(["image_missing", "host_unsupported"]);

function outcomeOf(error: ShinkenError): Outcome {
  if (error.code === "not_repeatable" && otherMachine.has(error.path ?? "")) return "other_machine";
  // An image that is not there is no fault of the file's.
  const root = error.cause instanceof ShinkenError ? error.cause : error;
  return isInfrastructure(error) || lacking.has(root.code) ? "failed" : "unusable";
}

const words: Record<Outcome, string> = {
  equal: "equal",
  different: "DIFFERENT",
  other_machine: "not compared",
  unusable: "not compared",
  failed: "FAILED",
};

/** The findings as people read them in a terminal. */
export function renderVerified(findings: readonly VerifiedFile[]): string {
  const lines = renderTable(findings, [
    { title: "task", cell: ({ task }) => task ?? "-" },
    { title: "steps", right: true, cell: ({ steps }) => String(steps) },
    { title: "", cell: ({ outcome }) => words[outcome] },
    { title: "file", cell: ({ file }) => file },
  ]);
  for (const { file, difference, error } of findings) {
    if (difference !== null)
      lines.push("", `${file}: step ${difference.step}, ${difference.what}`, `  ${difference.detail}`);
    if (error !== null) lines.push("", `${file}: ${error.code}: ${error.message}`);
    if (error?.suggestion !== undefined) lines.push(`  ${error.suggestion}`);
  }
  const equal = findings.filter(({ outcome }) => outcome === "equal").length;
  lines.push("", `${equal} of ${findings.length} episodes repeat themselves to the bit`);
  return `${lines.join("\n")}\n`;
}
