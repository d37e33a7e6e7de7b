import { sha256 } from "../canonical.js";
import type { Judgement } from "../value.js";
import { Demands, type GroundBytes } from "./ground.js";

/** Judges a file's whole content. */
export function judgeBytes(assertion: GroundBytes, seen: Uint8Array): Judgement {
  const demands = new Demands();
  if (assertion.equals !== undefined) {
    const same = Buffer.compare(assertion.equals, seen) === 0;
    demands.add(
      same,
      same
        ? `${seen.length} bytes as expected`
        : `the ${seen.length} bytes are not the ${assertion.equals.length} expected`,
    );
  }
  if (assertion.sha256 !== undefined) {
    const actual = sha256(seen);
    demands.add(actual === assertion.sha256, `sha256 ${assertion.sha256}: saw ${actual}`);
  }
  return demands.judge();
}
