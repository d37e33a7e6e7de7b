/** The published WebArena and VisualWebArena tasks, each with an answer made of its own references. */
import { describe, expect, it } from "vitest";
import { findScorer } from "../../src/suites/index.js";
import { absent, readShared, seen } from "./support.js";

interface Task {
  task_id: number;
  eval: {
    eval_types: string[];
    reference_answers?: Record<string, string | string[]> | null;
    reference_url?: string | null;
    url_note?: string;
    program_html?: { required_contents: Record<string, string | string[]> }[] | null;
  };
}

const OR = " |OR| ";
const first = (text: string): string => text.split(OR)[0] ?? "";
const score = (id: string, input: unknown): unknown => seen(findScorer(id).score(input));

/** An answer that says everything that is asked for, once. */
function answerTo(references: Record<string, string | string[]>, expand: (text: string) => string): string {
  const { exact_match } = references;
  if (typeof exact_match === "string") return expand(exact_match);
  const of = (name: string): string[] => [references[name] ?? []].flat();
  const parts = of("must_include").concat(of("one_of").slice(0, 1), of("required_values"));
  // Where only a judge is asked, anything will do but nothing.
  return parts.map(expand).join("\n") || "an answer";
}

const sets = [
  ["wa", ["data", "webarena", "test.raw.json"], 812],
  ["vwa", ["data", "visualwebarena", "test_classifieds.raw.json"], 234],
  ["vwa", ["data", "visualwebarena", "test_reddit.raw.json"], 210],
  ["vwa", ["data", "visualwebarena", "test_shopping.raw.json"], 466],
] as const;

describe.each(sets)("%s tasks of %j (skipped where ../shared/data is absent)", (dialect, path, count) => {
  const tasks = absent(...path) ? [] : (readShared(...path) as Task[]);
  const having = (type: string): Task[] => tasks.filter((task) => task.eval.eval_types.includes(type));
  const skip = tasks.length === 0;

  it.skipIf(skip)("are all there", () => {
    expect(tasks).toHaveLength(count);
  });

  it.skipIf(skip)(
    "are answered by their own references, but for alternatives that WebArena does not know",
    () => {
      const unhappy = { faithful: [] as number[], strict: [] as number[] };
      for (const { task_id, eval: evaluation } of having("string_match")) {
        const references = evaluation.reference_answers ?? {};
        // A judge is asked elsewhere; here it is content.
        const judged = Array.isArray(references.fuzzy_match) ? references.fuzzy_match.map(() => 1) : [];
        const input = {
          answer: answerTo(references, first),
          reference_answers: references,
          judged,
          judged_unachievable: 1,
        };
        for (const profile of ["faithful", "strict"] as const) {
          if (score(`${dialect}.string.v1/${profile}`, input) !== 1) unhappy[profile].push(task_id);
        }
      }
      const alternatives = having("string_match").filter(({ eval: { reference_answers } }) =>
        Object.values(reference_answers ?? {})
          .flat()
          .some((text) => text.includes(OR)),
      );
      expect(unhappy.faithful).toEqual(dialect === "wa" ? alternatives.map(({ task_id }) => task_id) : []);
      expect(unhappy.strict).toEqual([]);
    },
  );

  it.skipIf(skip)("are never answered by nothing", () => {
    const easy = having("string_match").filter(({ eval: { reference_answers } }) => {
      const references = reference_answers ?? {};
      const judged = Array.isArray(references.fuzzy_match) ? references.fuzzy_match.map(() => 0) : [];
      const input = { answer: "", reference_answers: references, judged, judged_unachievable: 0 };
      return score(`${dialect}.string.v1/strict`, input) !== 0;
    });
    expect(easy.map(({ task_id }) => task_id)).toEqual([]);
  });

  it.skipIf(skip)("are shown by their own reference addresses, and by no others", () => {
    const unhappy: number[] = [];
    for (const { task_id, eval: evaluation } of having("url_match")) {
      const reference_url = (evaluation.reference_url ?? "").replaceAll(/__[A-Z_]+__/g, "http://site");
      const note = evaluation.url_note === undefined ? {} : { url_note: evaluation.url_note };
      for (const profile of ["faithful", "strict"]) {
        const at = (url: string): unknown =>
          score(`${dialect}.url.v1/${profile}`, { url, reference_url, ...note });
        if (at(first(reference_url)) !== 1 || at("http://elsewhere/") !== 0) unhappy.push(task_id);
      }
    }
    // Where alternatives ask for queries of their own, the published profile asks all of them of each.
    const mixed = having("url_match").filter(
      ({ eval: { reference_url } }) => reference_url?.includes(OR) === true && reference_url.includes("?"),
    );
    expect(unhappy.filter((id) => !mixed.some(({ task_id }) => task_id === id))).toEqual([]);
  });

  it.skipIf(skip)("have required contents that can all be read", () => {
    const unread: unknown[] = [];
    for (const { task_id, eval: evaluation } of having("program_html")) {
      for (const { required_contents } of evaluation.program_html ?? []) {
        const selected = "required_values" in required_contents ? "7" : answerTo(required_contents, first);
        const target = { selected, required_contents, ...(dialect === "vwa" ? { judged: [1, 1, 1] } : {}) };
        for (const profile of ["faithful", "strict"]) {
          const outcome = score(`${dialect}.html.v1/${profile}`, { targets: [target] });
          if (outcome !== 0 && outcome !== 1) unread.push([task_id, profile, outcome]);
        }
      }
    }
    expect(unread).toEqual([]);
  });
});
