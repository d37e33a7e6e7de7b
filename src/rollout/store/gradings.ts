import type { Grading } from "./types.js";

/** What makes two gradings the same one. */
export function gradingKey(one: Pick<Grading, "episode" | "verifier" | "runtime">): string {
  return [one.episode, one.verifier, one.runtime].join(" ");
}
