import { show } from "../evidence.js";
import type { FileFacts, Judgement } from "../value.js";
import { Demands, type GroundFile } from "./ground.js";
import { inRange, rangeText } from "./range.js";

function octal(mode: number): string {
  return `0${(mode & 0o7777).toString(8).padStart(3, "0")}`;
}

/** Judges a path: `null` means that nothing is there. */
export function judgeFile(assertion: GroundFile, seen: FileFacts | null): Judgement {
  const demands = new Demands();
  if (assertion.absent === true) {
    demands.add(seen === null, seen === null ? "nothing is there" : `a ${seen.kind} is there`);
    return demands.judge();
  }
  if (seen === null) {
    demands.add(false, "nothing is there");
    return demands.judge();
  }
  if (assertion.exists === true) demands.add(true, `a ${seen.kind} is there`);
  if (assertion.kind !== undefined)
    demands.add(seen.kind === assertion.kind, `is a ${assertion.kind}: saw a ${seen.kind}`);
  if (assertion.sha256 !== undefined) {
    demands.add(
      seen.sha256 === assertion.sha256,
      `sha256 ${assertion.sha256}: saw ${seen.sha256 ?? `a ${seen.kind}`}`,
    );
  }
  if (assertion.mode !== undefined) {
    demands.add(
      (seen.mode & 0o7777) === Number.parseInt(assertion.mode, 8),
      `mode ${assertion.mode}: saw ${octal(seen.mode)}`,
    );
  }
  if (assertion.size !== undefined) {
    demands.add(inRange(seen.size, assertion.size), `size ${rangeText(assertion.size)}: saw ${seen.size}`);
  }
  if (assertion.uid !== undefined)
    demands.add(seen.uid === assertion.uid, `uid ${assertion.uid}: saw ${seen.uid}`);
  if (assertion.target !== undefined) {
    demands.add(
      seen.target === assertion.target,
      `points to ${show(assertion.target)}: saw ${show(seen.target ?? null)}`,
    );
  }
  return demands.judge();
}
