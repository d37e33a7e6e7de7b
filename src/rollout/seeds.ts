import { createHash } from "node:crypto";

/** A seed of 48 bits for one part of a run. */
export function subSeed(seed: number, part: string): number {
  return createHash("sha256").update(`shinken-rollout\0${seed}\0${part}`).digest().readUIntBE(0, 6);
}
