import { describe, expect, it } from "vitest";
import { ShinkenError } from "../../src/errors/index.js";
import { checkEnv } from "../../src/env/conformance/index.js";
import { EchoEnvironment } from "../../src/env/echo.js";
import type { StepResult } from "../../src/env/environment.js";

describe("the echo environment", () => {
  it("keeps the contract of an environment", async () => {
    const report = await checkEnv(() => Promise.resolve(new EchoEnvironment()));
    expect(report.problems).toEqual([]);
    expect(report.rules).toBeGreaterThan(50);
  });

  it("gives every action back", async () => {
    const echo = new EchoEnvironment();
    await echo.reset();
    const { observation } = await echo.step([
      { type: "a", text: "hello" },
      { type: "b", n: 1 },
    ]);
    expect(observation.results.map(({ text }) => text)).toEqual(["hello", '{"type":"b","n":1}']);
  });
});

describe("checkEnv", () => {
  async function problemsOf(spoil: (environment: EchoEnvironment) => void): Promise<string[]> {
    const report = await checkEnv(() => {
      const environment = new EchoEnvironment();
      spoil(environment);
      return Promise.resolve(environment);
    });
    expect(report.ok).toBe(false);
    return report.problems;
  }

  function spoilStep(
    change: (result: StepResult, count: number) => void,
  ): (environment: EchoEnvironment) => void {
    return (environment) => {
      const original = environment.step.bind(environment);
      let count = 0;
      environment.step = async (actions) => {
        const result = await original(actions);
        count += 1;
        change(result, count);
        return result;
      };
    };
  }

  it("finds a reward that is no number", async () => {
    const problems = await problemsOf(spoilStep((result) => Object.assign(result, { reward: Number.NaN })));
    expect(problems).toContain("step: the reward is not a finite number");
  });

  it("finds a truncated that is no boolean", async () => {
    const problems = await problemsOf(spoilStep((result) => Object.assign(result, { truncated: 0 })));
    expect(problems).toContain("step: truncated is not a boolean");
  });

  it("finds observations that differ for the same seed", async () => {
    let calls = 0;
    const problems = await problemsOf(
      spoilStep((result) => {
        calls += 1;
        Object.assign(result.observation, { clock: calls });
      }),
    );
    expect(problems).toContain("another environment gives another episode for the same seed");
  });

  it("finds what JSON cannot carry", async () => {
    const problems = await problemsOf(
      spoilStep((result) => Object.assign(result.info, { when: new Date() })),
    );
    expect(problems.join()).toMatch(
      /the info is not plain JSON: \(value\)\.when is no plain object but \[object Date\]/,
    );
  });

  it("finds an end that does not hold", async () => {
    const problems = await problemsOf((environment) => {
      environment.step = (actions) =>
        Promise.resolve({
          observation: { results: actions.map(() => ({ type: "x", text: "", truncated: false })) },
          reward: 0,
          terminated: false,
          truncated: false,
          info: {},
        });
    });
    expect(problems).toContain("done does not terminate the episode");
    expect(problems).toContain("a step after the end is accepted; it should be refused with episode_over");
    expect(problems).toContain("step before reset is accepted; it should be refused with not_reset");
  });

  it("finds proper requests that are refused, and goes on with the rest", async () => {
    const problems = await problemsOf((environment) => {
      const original = environment.evaluate.bind(environment);
      environment.evaluate = () =>
        original().then(() => {
          throw new ShinkenError("bad_request", "there are no checks");
        });
      environment.close = () => Promise.resolve();
    });
    expect(problems).toContain(
      "while an episode runs a proper request ends with bad_request: there are no checks",
    );
    expect(problems).toContain("a closed environment can be reset");
  });

  it("rejects where nothing can be checked", async () => {
    const broken = () => Promise.reject(new ShinkenError("setup_failed", "no machine"));
    await expect(checkEnv(broken)).rejects.toMatchObject({ code: "setup_failed" });
    const unready = () => Promise.resolve(Object.assign(new EchoEnvironment(), { reset: broken }));
    await expect(checkEnv(unready)).rejects.toMatchObject({ code: "setup_failed" });
  });

  it("finds an ungraded verdict with a score", async () => {
    const problems = await problemsOf((environment) => {
      environment.evaluate = () =>
        Promise.resolve({
          task: "t",
          taskVersion: "1",
          verifierVersion: "v",
          status: "ungraded",
          score: 0,
          passed: null,
          checks: [],
        });
    });
    expect(problems).toContain("an ungraded verdict carries a score");
    expect(problems).toContain("an ungraded verdict gives no reason");
  });
});
