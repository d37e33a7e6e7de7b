/** The published scorers as check graphs take them. */
import type { ScorerLibrary } from "../verifiers/scorer/library.js";
import { workerFile } from "../verifiers/worker-file.js";
import { findScorer, scorerIds } from "./scorers.js";

const grading = scorerIds.filter((id) => findScorer(id).grades);

/** Every published scorer that grades, for whoever loads tasks. */
export const publishedScorers: ScorerLibrary = {
  ids: grading,
  inputOf: (id) => (grading.includes(id) ? findScorer(id).input : undefined),
  threadFile: () => workerFile("../suites/thread.js"),
};
