import type { Judgement } from "../value.js";
import { Demands, type GroundNumber } from "./ground.js";

/** Judges a number. The tolerance belongs to `equals` alone; a strict bound stays strict. */
export function judgeNumber(assertion: GroundNumber, seen: number): Judgement {
  const { equals, tolerance, relative_tolerance: relative, min, max, above, below } = assertion;
  const demands = new Demands();
  if (equals !== undefined) {
    const room = Math.max(tolerance, relative * Math.abs(equals));
    const wanted = room === 0 ? `${equals}` : `${equals} ± ${room}`;
    demands.add(Math.abs(seen - equals) <= room, `equals ${wanted}: saw ${seen}`);
  }
  if (min !== undefined) demands.add(seen >= min, `at least ${min}: saw ${seen}`);
  if (max !== undefined) demands.add(seen <= max, `at most ${max}: saw ${seen}`);
  if (above !== undefined) demands.add(seen > above, `above ${above}: saw ${seen}`);
  if (below !== undefined) demands.add(seen < below, `below ${below}: saw ${seen}`);
  return demands.judge();
}
