import { afterAll, expect, it } from "vitest";
import { makeTask } from "../../../src/env/task/index.js";
import { type EndState, gradeStates, gradeStatesTwice } from "../../../src/rollout/calibration/index.js";
import { closePool } from "../../../src/verifiers/index.js";
import { describeOnHost } from "../../env/support.js";
import { HostProvider } from "../../support/host-sandbox/index.js";

const spec = {
  id: "good",
  version: "1.0.0",
  instruction: "Write {{word}} to a, and say it.",
  params: { word: { type: "string", choices: ["x", "y"] } },
  setup: [{ write: { path: "/home/agent/b", text: "b\n" } }],
  verify: {
    graph: {
      all: [
        {
          id: "a",
          channel: "fs",
          query: { kind: "text", path: "/home/agent/a" },
          assert: { type: "text", equals: { param: "word" }, normalise: ["trim"] },
        },
        {
          id: "said",
          channel: "episode",
          query: { kind: "answer" },
          assert: { type: "text", equals: { param: "word" } },
        },
      ],
    },
  },
  oracle: [
    { type: "write_file", path: "a", content: { param: "word" } },
    { type: "done", answer: { param: "word" } },
  ],
};

function state(id: string, change: Partial<EndState> = {}): EndState {
  return {
    id: `good/${id}`,
    task: "good",
    by: "somebody",
    file: "labels.yaml",
    from: "solved",
    actions: [],
    steps: [],
    label: "right",
    note: "a note",
    agreed: false,
    ...change,
  };
}

const exec = (...argv: string[]): EndState["steps"][number] => ({
  exec: { argv, user: "root", timeout_s: 60, exit: [0] },
});

describeOnHost("labelled end states", () => {
  const provider = new HostProvider();
  afterAll(async () => {
    await provider.close();
    await closePool();
  });

  it("are reached by the oracle or by actions, changed, and graded each on a machine of its own", async () => {
    const seen: [string, number, number][] = [];
    const verdicts = await gradeStates({
      states: [
        state("solved", { params: { word: "x" } }),
        state("changed", { params: { word: "x" }, steps: [exec("sh", "-c", "echo z > /home/agent/a")] }),
        state("said_nothing", { params: { word: "x" }, episode: { answer: null } }),
        state("by_hand", {
          params: { word: "y" },
          from: "golden",
          actions: [
            { type: "exec", command: "echo y > a" },
            { type: "done", answer: "y" },
          ],
        }),
        state("untouched", { params: { word: "x" }, from: "golden" }),
        state("solved_too", { params: { word: "x" } }),
      ],
      tasks: [makeTask(spec)],
      provider,
      onState: (id, done, all) => seen.push([id, done, all]),
    });
    expect([...verdicts].map(([id, { passed }]) => [id, passed]).sort()).toEqual([
      ["good/by_hand", true],
      ["good/changed", false],
      ["good/said_nothing", false],
      ["good/solved", true],
      ["good/solved_too", true],
      ["good/untouched", false],
    ]);
    expect(verdicts.get("good/solved_too")).toEqual(verdicts.get("good/solved"));
    expect(verdicts.get("good/changed")?.checks).toMatchObject([
      { id: "a", status: "failed" },
      { id: "said" },
    ]);
    expect(seen).toHaveLength(6);
    expect(provider.openMachines()).toBe(0);
  });

  it("that cannot be reached are ungraded and say why; the others are graded all the same", async () => {
    const verdicts = await gradeStates({
      states: [state("torn", { steps: [exec("false")] }), state("whole")],
      tasks: [makeTask(spec)],
      provider,
    });
    expect(verdicts.get("good/torn")).toMatchObject({ status: "ungraded", passed: null, score: null });
    expect(verdicts.get("good/torn")?.reason).toMatch(
      /^not reached: setup_failed: good\/torn\.steps\[0\]: false gave exit code 1/,
    );
    expect(verdicts.get("good/whole")?.passed).toBe(true);
  });

  it.each([
    [{ task: "goood" }, "unknown_task", 'did you mean "good"?'],
    [{ params: { wrod: "x" } }, "bad_request", undefined],
    [{ params: { word: "z" } }, "bad_request", undefined],
    [{ from: "golden" as const, actions: [{ type: "dnoe" }] }, "bad_action", undefined],
  ])("with %j are refused before any machine is made", async (change, code, suggestion) => {
    const before = provider.openMachines();
    const work = gradeStates({
      states: [state("whole"), state("one", change)],
      tasks: [makeTask(spec)],
      provider,
    });
    await expect(work).rejects.toMatchObject({
      code,
      message: expect.stringContaining("labels.yaml: good/one") as string,
      ...(suggestion === undefined ? {} : { suggestion }),
    });
    expect(provider.openMachines()).toBe(before);
  });

  it("are graded by two versions of a task on the very same machine where both begin and are solved alike", async () => {
    // What the oracle leaves is drawn at random: two machines would never hold the same.
    const oracle = [
      { type: "exec", command: "head -c 16 /dev/urandom | od -An -tx1 > a; cp a c" },
      { type: "done", answer: { param: "word" } },
    ];
    const reads = (path: string) => ({
      ...spec,
      oracle,
      verify: {
        graph: {
          id: "a",
          channel: "fs",
          query: { kind: "text", path },
          assert: { type: "text", equals: "?" },
        },
      },
    });
    const { verdicts, same } = await gradeStatesTwice({
      states: [state("one"), state("two", { seed: 5 })],
      tasks: [makeTask(reads("/home/agent/a"))],
      against: [makeTask({ ...reads("/home/agent/c"), version: "1.1.0" })],
      provider,
    });
    expect(same).toBe(0);
    const [before, after] = verdicts.get("good/one") ?? [];
    expect(before?.checks[0]?.evidence).toMatch(/[0-9a-f]{2} [0-9a-f]{2}/);
    expect(after?.checks[0]?.evidence).toBe(before?.checks[0]?.evidence);
    expect([before?.task_version, after?.task_version]).toEqual(["1.0.0", "1.1.0"]);
  });

  it("are reached by each version itself where they begin otherwise, and not at all where the task is the same", async () => {
    const other = { ...spec, version: "2.0.0", setup: [{ write: { path: "/home/agent/a", text: "old\n" } }] };
    const untouched = state("untouched", { from: "golden", episode: { answer: "x" }, params: { word: "x" } });
    const { verdicts } = await gradeStatesTwice({
      states: [untouched],
      tasks: [makeTask(spec)],
      against: [makeTask(other)],
      provider,
    });
    const [before, after] = verdicts.get("good/untouched") ?? [];
    expect(before?.checks[0]?.evidence).not.toContain("old");
    expect(after?.checks[0]?.evidence).toContain("old");
    const again = await gradeStatesTwice({
      states: [untouched],
      tasks: [makeTask(spec)],
      against: [makeTask(spec)],
      provider,
    });
    expect(again.same).toBe(1);
    expect(again.verdicts.size).toBe(0);
    expect(provider.openMachines()).toBe(0);
  });
});
