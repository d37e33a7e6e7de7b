/** WebArena-Verified's own tasks, and its published verdicts. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { evaluateRun, parseHar, parseTasks, type WebArenaVerifiedTask } from "../../../src/suites/index.js";
import { absent, readShared, sharedFile } from "../support.js";
import { sites } from "./support.js";

const data = ["data", "webarena-verified"] as const;

interface Published {
  status: string;
  score: number;
  evaluators_results: {
    evaluator_name: string;
    status: string;
    score: number;
    expected: unknown;
    actual_normalized: unknown;
    assertions: { assertion_name: string }[] | null;
  }[];
}

describe.skipIf(absent(...data))("the published task set (skipped where ../shared/data is absent)", () => {
  const tasks = parseTasks(readShared(...data, "webarena-verified.json"));

  it("loads: 812 tasks, each of its own number", () => {
    expect(tasks.size).toBe(812);
    expect(Math.max(...tasks.keys())).toBe(811);
  });

  it("holds every task of the hard subset", () => {
    const { task_ids } = readShared(...data, "webarena-verified-hard.json") as { task_ids: number[] };
    expect(task_ids.filter((id) => !tasks.has(id))).toEqual([]);
  });

  it.each([107, 108])("gives demo run %d the published verdict", (id) => {
    const folder = [...data, "demo", String(id)] as const;
    const published = readShared(...folder, "eval_result.json") as Published;
    const task = tasks.get(id);
    expect(task).toBeDefined();
    const verdict = evaluateRun(task as WebArenaVerifiedTask, {
      response: readFileSync(sharedFile(...folder, "agent_response.json"), "utf8"),
      events: parseHar(readShared(...folder, "network.har")),
    });
    expect(verdict).toMatchObject({ taskId: id, status: published.status, score: published.score });
    expect(
      verdict.evaluators.map((one) => [
        one.evaluator,
        one.status,
        one.score,
        one.expected,
        one.actual,
        one.assertions.map(({ name }) => name),
      ]),
    ).toEqual(
      published.evaluators_results.map((one) => [
        one.evaluator_name,
        one.status,
        one.score,
        one.expected,
        one.actual_normalized,
        (one.assertions ?? []).map(({ assertion_name }) => assertion_name),
      ]),
    );
  });

  it("is satisfied by its own expected answers, wherever it asks for one", () => {
    const unhappy: number[] = [];
    for (const task of tasks.values()) {
      const [first] = task.eval;
      if (first?.evaluator !== "AgentResponseEvaluator") continue;
      // Alternatives stand in lists; the first of each will do.
      const flat = (value: unknown): unknown => (Array.isArray(value) ? value[0] : value);
      const retrieved = first.expected.retrieved_data?.map(flat) ?? null;
      const response = JSON.stringify({ ...first.expected, retrieved_data: retrieved });
      const [verdict] = evaluateRun(
        { ...task, eval: [first] },
        { response, events: [] },
        { sites, profile: "strict" },
      ).evaluators;
      if (verdict?.status !== "success") unhappy.push(task.task_id);
    }
    expect(unhappy).toEqual([]);
  });

  it("is never satisfied by saying nothing, nor by the pattern that fits everything", () => {
    const easy: number[] = [];
    for (const task of tasks.values()) {
      const [first] = task.eval;
      if (first?.evaluator !== "AgentResponseEvaluator") continue;
      const count = first.expected.retrieved_data?.length ?? 0;
      const everything = new Array<string>(count).fill("^.*$");
      const said = [
        "",
        JSON.stringify({ task_type: "^.*$", status: "^.*$", retrieved_data: null }),
        ...(count > 0 ? [JSON.stringify({ ...first.expected, retrieved_data: everything })] : []),
      ];
      for (const response of said) {
        const { status } = evaluateRun(
          { ...task, eval: [first] },
          { response, events: [] },
          { sites, profile: "strict" },
        );
        if (status !== "failure") easy.push(task.task_id);
      }
    }
    expect(easy).toEqual([]);
  });
});
