import type { Verdict } from "../../verifiers/verdict.js";
import { plainJsonFault } from "./plain-json.js";

/** What is wrong with a verdict's shape, each in a sentence. */
export function verdictFaults(verdict: Verdict): string[] {
  // Somebody else's verdict: its type is what is in question.
  const status: string = verdict.status;
  const faults: string[] = [];
  const json = plainJsonFault(verdict);
  if (json !== null) faults.push(`the verdict is not plain JSON: ${json}`);
  if (status === "graded") {
    if (typeof verdict.passed !== "boolean") faults.push("a graded verdict does not say whether it passed");
    if (!isScore(verdict.score)) faults.push("the score of a graded verdict does not lie in [0, 1]");
  } else if (status === "ungraded") {
    if (verdict.score !== null || verdict.passed !== null) faults.push("an ungraded verdict carries a score");
    if (verdict.reason === undefined || verdict.reason === "")
      faults.push("an ungraded verdict gives no reason");
  } else {
    faults.push("the verdict is neither graded nor ungraded");
  }
  for (const check of verdict.checks) {
    const scored = check.status === "passed" || check.status === "failed";
    if (scored !== isScore(check.score))
      faults.push(`check ${check.id}: status and score contradict each other`);
  }
  return faults;
}

function isScore(score: number | null): boolean {
  return typeof score === "number" && score >= 0 && score <= 1;
}
