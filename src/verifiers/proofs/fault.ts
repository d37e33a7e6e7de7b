/** What all proofs share: where a fault is, and what is known of the task. */
import { ShinkenError } from "../../errors/index.js";
import { formatPath } from "../../errors/parse.js";
import type { ScorerLibrary } from "../scorer/library.js";

export type Path = (string | number)[];

export interface ProofContext {
  /** Channels that the image offers to a grader. */
  channels: readonly string[];
  /** The task's assets. */
  assets: Record<string, { sha256: string; for: "setup" | "grading" }>;
  /** Names of the machines beside the agent's. */
  machines: readonly string[];
  /** What scorer nodes may name; unsaid: a graph with one is refused. */
  scorers: ScorerLibrary | undefined;
  /** Path that stands before the graph's own. */
  at: Path;
}

/** A fault of a task at a place. */
export function fault(path: Path, why: string, suggestion?: string): ShinkenError {
  const at = formatPath(path);
  return new ShinkenError("bad_task", `${at}: ${why}`, { path: at, suggestion });
}
