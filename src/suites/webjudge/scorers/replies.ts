/** WebJudge (Online-Mind2Web): the score of one screenshot, and the status of the whole, out of a judge's prose. */
import { z } from "zod";
import { lower } from "../../python/text.js";
import { defineScorer, given, type Outcome } from "../../scorer.js";

const input = z.strictObject({
  /** What the judge wrote; null if nothing came. */
  text: z.string().nullable(),
});
type Input = z.output<typeof input>;

/** The first digit from 1 to 5 after the first `Score`, up to the next one, and 0 where there is none: so `(1-5): 4` is a 1. */
function score({ text }: Input): Outcome<number> {
  const after = text?.split("Score")[1];
  return given(Number(/[1-5]/.exec(after ?? "")?.[0] ?? 0));
}

const labelled = /^[ \t>*#\d.)-]*Score[ \t*]*(?:\([^()\n]*\))?[ \t*]*[:=][ \t*]*([^\n]*)$/gm;
const value = /^([1-5])(?:\s*(?:\/|out of)\s*5)?\**\s*(?:[.,;(].*|[-–—](?!\s*\d).*)?$/;

/** A line `Score: N`, once, with a whole number from 1 to 5 that is the line's own; 0 where there is no such line. */
function strictScore({ text }: Input): Outcome<number> {
  const lines = [...(text ?? "").matchAll(labelled)].map((line) => (line[1] ?? "").trim());
  const found = lines.map((line) => (/^[1-5][.,]\d/.test(line) ? undefined : value.exec(line)?.[1]));
  const [first] = found;
  const agreed = first !== undefined && found.every((one) => one === first);
  return given(agreed ? Number(first) : 0);
}

export const webjudgeScore = defineScorer({
  name: "webjudge.score",
  version: 1,
  input,
  score: { faithful: score, strict: strictScore },
});

/** `success` anywhere after the first `status:` and before the next, in any case: so `unsuccessful` and `not a success` hold it. */
function status({ text }: Input): Outcome<0 | 1> {
  const after = lower(text ?? "").split("status:")[1];
  return given<0 | 1>(after?.includes("success") === true ? 1 : 0);
}

const statusLine =
  /^[ \t>*#\d.)-]*status[ \t*]*:[ \t*]*["'“”‘’`]*(success|failure)["'“”‘’`]*[ \t*]*[.!]?[ \t]*$/gim;

/** Lines `Status: "success"` and no other status line; everything else is a failure. */
function strictStatus({ text }: Input): Outcome<0 | 1> {
  const all = (text ?? "").match(/status[ \t*]*:/gi) ?? [];
  const read = [...(text ?? "").matchAll(statusLine)].map((line) => line[1]?.toLowerCase());
  const success = read.length > 0 && read.length === all.length && read.every((one) => one === "success");
  return given<0 | 1>(success ? 1 : 0);
}

export const webjudgeStatus = defineScorer({
  name: "webjudge.status",
  version: 1,
  input,
  score: { faithful: status, strict: strictStatus },
  reward: (verdict) => verdict,
});
