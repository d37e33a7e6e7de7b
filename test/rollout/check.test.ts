import { afterAll, expect, it } from "vitest";
import { makeTask } from "../../src/env/task/index.js";
import { checkTasks, renderCheck, type TaskFinding } from "../../src/rollout/index.js";
import { describeOnHost } from "../env/support.js";
import { HostProvider } from "../support/host-sandbox/index.js";

const file = (name: string, text: string, more = {}) => ({
  id: name,
  channel: "fs",
  milestone: true,
  query: { kind: "text", path: `/home/agent/${name}` },
  assert: { type: "text", equals: text },
  ...more,
});
const remove = (name: string) => ({
  id: `no_${name}`,
  steps: [{ exec: { argv: ["rm", `/home/agent/${name}`] } }],
  flips: [name],
});

const good = {
  id: "good",
  version: "1.0.0",
  instruction: "Write a and b.",
  verify: { graph: { weighted: [file("a", "1\n"), file("b", "2\n")] } },
  oracle: [{ type: "exec", command: "echo 1 > a; echo 2 > b" }],
  mutations: [remove("a"), remove("b")],
};

describeOnHost("the gates", () => {
  const provider = new HostProvider();
  afterAll(() => provider.close());

  async function examine(change: Record<string, unknown>): Promise<TaskFinding> {
    const report = await checkTasks({ tasks: [makeTask({ ...good, ...change })], provider });
    expect(report.ok).toBe(report.tasks[0]?.ok);
    expect(provider.openMachines()).toBe(0);
    expect(renderCheck(report)).toContain(report.ok ? "ok" : "NOT OK");
    return report.tasks[0] as TaskFinding;
  }

  it("let a sound task pass", async () => {
    expect(await examine({})).toEqual({
      id: "good",
      expect: "act",
      oracle: 1,
      null: 0,
      fail_only: 0,
      done_only: 0,
      mutations_flipped: true,
      milestones: 2,
      variants: 1,
      failed_gates: [],
      not_run: [],
      problems: [],
      ok: true,
    });
  });

  it("catch an oracle that does not solve its task", async () => {
    const finding = await examine({ oracle: [{ type: "exec", command: "echo 1 > a" }] });
    expect(finding).toMatchObject({ oracle: 0.5, failed_gates: ["oracle", "milestones"], ok: false });
    expect(finding.problems.join("\n")).toMatch(/the oracle scores 0\.5: b failed/);
  });

  it("catch a check that holds from the start", async () => {
    const finding = await examine({ setup: [{ write: { path: "/home/agent/a", text: "1\n" } }] });
    expect(finding).toMatchObject({ null: 0.5, fail_only: 0.5, done_only: 0.5, ok: false });
    expect(finding.failed_gates).toEqual(["milestones", "null", "done_only", "fail_only"]);
    expect(finding.problems).toContain(
      "the oracle does not earn the milestone a, or it holds from the start",
    );
  });

  it("are explained, each with the tasks that do not pass it", async () => {
    const broken = makeTask({ ...good, id: "broken", mutations: [remove("a")] });
    const report = await checkTasks({ tasks: [makeTask(good), broken], provider });
    expect(report.gates.map(({ gate }) => gate)).toContain("mutations");
    const text = renderCheck(report);
    for (const { gate, demands } of report.gates) {
      expect(text).toMatch(new RegExp(`${gate} +${gate === "mutations" ? "NOT OK: broken" : "ok"}`));
      expect(text).toContain(demands);
    }
  });

  it("catch a dense milestone that pays whoever does nothing but say so", async () => {
    const said = {
      id: "said",
      channel: "episode",
      milestone: true,
      dense: true,
      query: { kind: "end" },
      assert: { type: "text", contains: ["done", "x"], partial: true },
      threshold: 0.9,
    };
    const finding = await examine({
      verify: { graph: { weighted: [file("a", "1\n"), file("b", "2\n"), said] } },
    });
    expect(finding.problems).toContain("done alone earns the milestone said");
  });

  it("catch a check that no mutation flips, and a mutation that flips nothing", async () => {
    const idle = { id: "idle", steps: [{ exec: { argv: ["true"] } }], flips: ["b"] };
    const finding = await examine({ mutations: [remove("a"), idle] });
    expect(finding).toMatchObject({ mutations_flipped: false, ok: false });
    expect(finding.problems).toEqual([
      "mutation idle does not flip the verdict",
      "mutation idle does not flip b",
      "no mutation flips b",
    ]);
  });

  it("catch an ungraded verdict: it is no score at all", async () => {
    const number = {
      id: "c",
      channel: "fs",
      query: { kind: "number", path: "/home/agent/a" },
      assert: { type: "number", equals: 1 },
    };
    const finding = await examine({
      verify: { graph: { weighted: [file("a", "one\n"), file("b", "2\n"), number] } },
      oracle: [{ type: "exec", command: "echo one > a; echo 2 > b" }],
    });
    expect(finding).toMatchObject({ oracle: null, ok: false });
    expect(finding.problems.join("\n")).toMatch(/the oracle is ungraded/);
  });

  it("catch a task with too few milestones", async () => {
    const finding = await examine({
      verify: { graph: { weighted: [file("a", "1\n"), file("b", "2\n", { milestone: false })] } },
    });
    expect(finding.problems).toEqual(["it has fewer than 2 milestones"]);
  });

  it("let giving up pay only where a task cannot be done, and not where somebody is to be asked", async () => {
    const refused = {
      expect: "refuse",
      verify: {
        graph: {
          sequence: [
            {
              id: "refused",
              channel: "episode",
              milestone: true,
              query: { kind: "end" },
              assert: { type: "text", equals: "fail" },
            },
            {
              id: "said_why",
              channel: "episode",
              milestone: true,
              query: { kind: "reason" },
              assert: { type: "text", contains: "b is missing" },
            },
          ],
        },
      },
      oracle: [{ type: "fail", reason: "b is missing" }],
      mutations: [
        { id: "done", episode: { end: "done" }, flips: ["refused"] },
        { id: "no_reason", episode: { reason: null }, flips: ["said_why"] },
      ],
    };
    const scores = { oracle: 1, null: 0, done_only: 0, fail_only: 0.5 };
    expect(await examine(refused)).toMatchObject({ ...scores, expect: "refuse", ok: true });
    for (const expected of ["act", "ask"]) {
      expect(await examine({ ...refused, expect: expected })).toMatchObject({
        ...scores,
        expect: expected,
        ok: false,
        problems: ["fail alone scores 0.5", "fail alone earns the milestone refused"],
      });
    }
  });

  it("catch a mutation that cannot be carried out", async () => {
    const finding = await examine({ mutations: [...good.mutations, { ...remove("nowhere"), flips: [] }] });
    expect(finding).toMatchObject({ oracle: 1, mutations_flipped: false, ok: false });
    expect(finding.problems.join("\n")).toMatch(
      /mutation no_nowhere cannot be carried out: .*rm gave exit code 1/,
    );
  });

  it("report a setup that fails as the task's problem and go on with the next one", async () => {
    const broken = makeTask({ ...good, id: "broken", setup: [{ exec: { argv: ["false"] } }] });
    const report = await checkTasks({ tasks: [broken, makeTask(good)], provider });
    expect(report.tasks.map(({ ok }) => ok)).toEqual([false, true]);
    expect(report.tasks[0]?.problems[0]).toMatch(/setup_failed: setup\[0\]: false gave exit code 1/);
    expect(report.tasks[0]).toMatchObject({ failed_gates: ["runs"], oracle: null });
    expect(report.tasks[0]?.not_run).toEqual(
      report.gates.map(({ gate }) => gate).filter((gate) => gate !== "runs"),
    );
    expect(renderCheck(report)).toMatch(/oracle +not run: broken/);
  });

  it("try several variants of a task with parameters", async () => {
    const finding = await examine({
      params: { word: { type: "string", choices: ["x", "y"] } },
      instruction: "Write {{word}} to a, 2 to b.",
      verify: {
        graph: {
          weighted: [
            file("a", "", { assert: { type: "text", equals: { param: "word" } } }),
            file("b", "2\n"),
          ],
        },
      },
      oracle: [
        { type: "write_file", path: "a", content: { param: "word" } },
        { type: "exec", command: "echo 2 > b" },
      ],
    });
    expect(finding).toMatchObject({ variants: 2, ok: true });
  });
});
