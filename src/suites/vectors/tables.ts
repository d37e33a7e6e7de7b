/** The kinds of vectors, by the names that they have in a file: what a row holds, and what a scorer makes of it. */
import { z } from "zod";
import { gaiaQuestion } from "../gaia/scorers/question.js";
import { hudCall } from "../hud/scorers/call.js";
import { json } from "../../verifiers/assertions/json-value.js";
import { mind2webOperation, mind2webPostprocess } from "../mind2web/scorers/operation.js";
import { mind2web2Tree, treeFields } from "../mind2web2/scorers/tree.js";
import { type Fault, faultText, type Outcome, type Profile } from "../scorer.js";
import { tacCredit, tacStrategy } from "../theagentcompany/scorers/credit.js";
import { vwaRequiredValue } from "../visualwebarena/scorers/values.js";
import { webjudgeScore } from "../webjudge/scorers/replies.js";
import { webvoyagerVerdict } from "../webvoyager/scorers/verdict.js";
import { osworldTable } from "./osworld.js";

export interface Compared {
  expected: unknown;
  got: unknown;
}

/** How rows of one name are run. */
export interface Table {
  row: z.ZodType;
  /** What a row that fits `row` expects, and what comes out. */
  run(row: unknown, profile: Profile): Compared;
}

/** An expected value may be the text of an exception instead. */
export const orFault = <T extends z.ZodType>(schema: T): z.ZodUnion<[T, z.ZodString]> =>
  z.union([schema, z.string()]);

export const table = <Row>(row: z.ZodType<Row>, run: (row: Row, profile: Profile) => Compared): Table => ({
  row,
  run: (given, profile) => run(given as Row, profile),
});

/** The value, or the exception as text. */
export function shown<T>(outcome: Outcome<T>, value: (value: T) => unknown = (one) => one): unknown {
  return outcome.fault === undefined ? value(outcome.value) : faultText(outcome.fault);
}

const text = z.string();
const number = z.number();

/** Dialects of models: they wait for those, and until then count as skipped. */
export const skipped: ReadonlySet<string> = new Set([
  "uitars_parse_1920x1080_qwen25vl",
  "anthropic_quickstart_scale",
]);

export const tables: Readonly<Record<string, Table>> = {
  gaia_question_scorer: table(
    z.strictObject({ answer: text.nullable(), gold: text, correct: orFault(z.boolean()) }),
    ({ answer, gold, correct }, profile) => ({
      expected: correct,
      got: shown(gaiaQuestion[profile].score({ answer, gold })),
    }),
  ),
  mind2web_action_f1: table(
    z.strictObject({ pred: text, label: text, f1: orFault(number) }),
    ({ pred, label, f1 }, profile) => ({
      expected: f1,
      got: shown(mind2webOperation[profile].score({ pred, label })),
    }),
  ),
  mind2web_postprocess: table(
    z.strictObject({ text, parsed: orFault(z.tuple([text, text])) }),
    ({ text: said, parsed }, profile) => ({
      expected: parsed,
      got: shown(mind2webPostprocess[profile].score({ text: said })),
    }),
  ),
  tac_score: table(
    z.strictObject({ total: number, result: number, score: orFault(number) }),
    ({ total, result, score }, profile) => ({
      expected: score,
      got: shown(tacCredit[profile].score({ total, result })),
    }),
  ),
  tac_strategies: table(
    z.strictObject({
      strategy: text,
      checkpoints: z.array(z.tuple([number, number])),
      result: orFault(number).nullable(),
      total: orFault(number).nullable(),
    }),
    ({ strategy, checkpoints, result, total }, profile) => {
      const outcome = tacStrategy[profile].score({ strategy, checkpoints });
      return {
        expected: { result, total },
        got: { result: shown(outcome, (points) => points.result), total: outcome.value?.total ?? null },
      };
    },
  ),
  webvoyager_verdict: table(
    z.strictObject({ text, result: number.nullable() }),
    ({ text: said, result }, profile) => ({
      expected: result,
      got: shown(webvoyagerVerdict[profile].score({ text: said })),
    }),
  ),
  webjudge_score: table(
    z.strictObject({ text: text.nullable(), score: number }),
    ({ text: said, score }, profile) => ({
      expected: score,
      got: shown(webjudgeScore[profile].score({ text: said })),
    }),
  ),
  hud_normalize_to_tool_call_dict: table(
    z.strictObject({ in: json, out: json }),
    ({ in: call, out }, profile) => ({ expected: out, got: shown(hudCall[profile].score({ call })) }),
  ),
  vwa_required_values: table(
    z.strictObject({
      value: text,
      ineq: text,
      parsed: number.nullable(),
      ok: orFault(z.boolean()).nullable(),
    }),
    ({ value, ineq, parsed, ok }, profile) => ({
      expected: { parsed, ok },
      got: requiredValue(value, ineq, profile),
    }),
  ),
  mind2web2_tree: table(
    z.strictObject({ ...treeFields, score: orFault(number) }),
    ({ strategy, children, score }, profile) => ({
      expected: score,
      got: shown(mind2web2Tree[profile].score({ strategy, children })),
    }),
  ),
  osworld_metric_quirks_executed: osworldTable,
};

/** The number is read before it is compared, so that it is there although the comparison raised. */
function requiredValue(value: string, inequality: string, profile: Profile): unknown {
  const outcome = vwaRequiredValue[profile].score({ value, inequality });
  if (outcome.fault === undefined) return outcome.value;
  return {
    parsed: vwaRequiredValue[profile].score({ value, inequality: ">= 0" }).value?.parsed ?? null,
    ok: raised(outcome.fault),
  };
}

const raised = (fault: Fault): string => faultText(fault);
