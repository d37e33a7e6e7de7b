import { describe, expect, it } from "vitest";
import {
  bootstrapMean,
  clopperPearson,
  icc1,
  parseStatisticsInput,
  renderStatistics,
  statisticsLimits,
  statisticsOf,
  wilson,
} from "../../../src/rollout/statistics/index.js";

const reportOf = (value: unknown) => statisticsOf(parseStatisticsInput(value));

describe("the figures of scores", () => {
  const tasks = [
    [1, 0, 1, null],
    [0.5, 1, 1, 1],
  ];

  it("are those of the functions, with ungraded replicas beside", () => {
    const options = { seed: 1, resamples: 500, confidence: 0.9 };
    const graded = [
      [1, 0, 1],
      [0.5, 1, 1, 1],
    ];
    const score = bootstrapMean(graded, options);
    const icc = icc1(graded, 0.9);
    expect(reportOf({ tasks, k: 2, ...options })).toEqual({
      per_task: [
        {
          n: 3,
          passed: 2,
          ungraded: 1,
          pass_at_k: 1,
          pass_hat_k: expect.closeTo(1 / 3, 12) as number,
          wilson: wilson(3, 2, 0.9),
          clopper_pearson: clopperPearson(3, 2, 0.9),
        },
        {
          n: 4,
          // Half a score is no pass.
          passed: 3,
          ungraded: 0,
          pass_at_k: 1,
          pass_hat_k: 0.5,
          wilson: wilson(4, 3, 0.9),
          clopper_pearson: clopperPearson(4, 3, 0.9),
        },
      ],
      pass_at_k: 1,
      pass_hat_k: expect.closeTo(5 / 12, 12) as number,
      score_mean: expect.closeTo((2 / 3 + 3.5 / 4) / 2, 12) as number,
      score_ci: score.ci,
      icc1: icc.value,
      icc1_ci: icc.ci,
      ungraded: 1,
      reasons: {},
    });
  });

  it("do not change with ungraded replicas, which are only counted", () => {
    const more = tasks.map((scores) => [null, ...scores, null]);
    const { per_task, ungraded, ...figures } = reportOf({ tasks: more, seed: 4 });
    const { per_task: before, ungraded: fewer, ...same } = reportOf({ tasks, seed: 4 });
    expect(figures).toEqual(same);
    expect(per_task.map((task) => ({ ...task, ungraded: 0 }))).toEqual(
      before.map((task) => ({ ...task, ungraded: 0 })),
    );
    expect([ungraded, fewer]).toEqual([5, 1]);
  });

  it("are null with a reason where they are undefined", () => {
    const report = reportOf({ tasks: [[null, null], []], k: 2 });
    expect(report).toMatchObject({ pass_at_k: null, pass_hat_k: null, score_mean: null, score_ci: null });
    expect(report).toMatchObject({ icc1: null, icc1_ci: null, ungraded: 2 });
    const undefinedFigures = ["pass_at_k", "pass_hat_k", "score_mean", "score_ci", "icc1", "icc1_ci"];
    const ofTasks = [0, 1].flatMap((task) =>
      ["pass_at_k", "pass_hat_k", "wilson", "clopper_pearson"].map((name) => `per_task[${task}].${name}`),
    );
    expect(Object.keys(report.reasons).sort()).toEqual([...undefinedFigures, ...ofTasks].sort());
  });

  it("say of which tasks they are, if not of all", () => {
    const { pass_at_k, score_mean, reasons } = reportOf({ tasks: [[1, 0, 1], [1], []], k: 3 });
    expect(pass_at_k).toBe(1);
    expect(reasons["pass_at_k"]).toContain("of 1 of 3 tasks");
    expect(score_mean).toBeCloseTo(5 / 6, 12);
    expect(reasons["score_mean"]).toContain("of 2 of 3 tasks");
  });

  it("are read by people as well", () => {
    const input = parseStatisticsInput({ tasks, k: 2 });
    const text = renderStatistics(statisticsOf(input), input);
    expect(text).toContain("pass@2");
    expect(text).toContain("1 ungraded, in none of the figures");
    expect(text.split("\n")[2]).toMatch(/^ +0 +3 +2 +1 +1\.000 +0\.333/);
  });
});

describe("what is read", () => {
  it("has defaults for all but the tasks", () => {
    expect(parseStatisticsInput({ tasks: [[1]] })).toEqual({
      tasks: [[1]],
      k: 1,
      confidence: 0.95,
      seed: 0,
      resamples: 10_000,
    });
  });

  it.each([
    [{ tasks: [[1], [0, true]] }, "tasks[1][1]", "write 1 for true"],
    [{ tasks: [[95]] }, "tasks[0][0]", "95 %? Write 0.95"],
    [{ tasks: [["1"]] }, "tasks[0][0]", "without quotes"],
    [{ tasks: [[-0.1]] }, "tasks[0][0]", undefined],
    [{ task: [[1]] }, "task", 'did you mean "tasks"?'],
    [{ tasks: [[1]], resample: 5 }, "resample", 'did you mean "resamples"?'],
    [{ tasks: [[1]], k: 0 }, "k", undefined],
    [{ tasks: [[1]], confidence: 95 }, "confidence", undefined],
    [{ tasks: [[1]], seed: -1 }, "seed", undefined],
    [{ tasks: [] }, "tasks", undefined],
    [{ tasks: [1, 0] }, "tasks[0]", undefined],
    [[[1, 0]], "", undefined],
  ])("%j is refused at its path", (value, path, suggestion) => {
    expect(() => parseStatisticsInput(value)).toThrow(
      expect.objectContaining({
        code: "bad_request",
        path,
        suggestion: suggestion === undefined ? undefined : (expect.stringContaining(suggestion) as string),
      }) as Error,
    );
  });

  it("has limits", () => {
    const many = new Array<number[]>(statisticsLimits.tasks + 1).fill([1]);
    expect(() => parseStatisticsInput({ tasks: many })).toThrow(/more than 100000/);
    const long = new Array<number>(statisticsLimits.replicas / 2 + 1).fill(0);
    expect(() => parseStatisticsInput({ tasks: [long, long] })).toThrow(
      expect.objectContaining({ code: "too_large", path: "tasks" }) as Error,
    );
  });
});
