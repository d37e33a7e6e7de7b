import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cli } from "../support/cli.js";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "shinken-verifier-"));
});
afterAll(() => rm(folder, { recursive: true }));

const put = async (name: string, value: unknown): Promise<string> => {
  const path = join(folder, name);
  await writeFile(path, typeof value === "string" ? value : JSON.stringify(value));
  return path;
};

describe("verifier vectors", () => {
  it("exits 0 where nothing differs, and prints exactly the report", async () => {
    const file = await put("same.json", {
      tac_score: [{ total: 3, result: 2, score: 1 / 3 }],
      anthropic_quickstart_scale: [{}],
    });
    const { code, stdout, stderr } = await cli(["verifier", "vectors", file, "--json"]);
    expect(stdout).toBe('{"total":2,"equal":1,"skipped":1,"different":[]}\n');
    expect([code, stderr]).toEqual([0, ""]);
  });

  it("exits 1 where something differs, and shows it in a table too", async () => {
    const file = await put("other.json", { webvoyager_verdict: [{ text: "UNSUCCESSFUL", result: 0 }] });
    const { code, stdout } = await cli(["verifier", "vectors", file, "--json"]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      total: 1,
      equal: 0,
      skipped: 0,
      different: [{ scorer: "webvoyager_verdict", index: 0, expected: 0, got: 1 }],
    });
    const table = await cli(["verifier", "vectors", file]);
    expect(table.code).toBe(1);
    expect(table.stdout).toContain("webvoyager_verdict[0]: expected 0, got 1");
    expect((await cli(["verifier", "vectors", file, "--profile", "strict"])).code).toBe(0);
  });

  it.each([
    ["an unknown scorer", { gaia: [] }, "gaia"],
    ["a malformed row", { tac_score: [{ total: 1 }] }, "tac_score[0].result"],
    ["no JSON", "{", expect.stringContaining("broken") as string],
  ])("says where the file has %s, and what to do", async (_, value, path) => {
    const file = await put("broken.json", value);
    const { code, stdout } = await cli(["verifier", "vectors", file, "--json"]);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toEqual({
      error: {
        code: "bad_request",
        message: expect.any(String) as string,
        path,
        suggestion: expect.any(String) as string,
        retry: false,
      },
    });
  });

  it("says that there is no such file", async () => {
    const { code, stdout } = await cli(["verifier", "vectors", join(folder, "none.json"), "--json"]);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({
      error: { code: "bad_request", path: join(folder, "none.json") },
    });
  });
});

describe("verifier webarena", () => {
  const tasks = [
    {
      sites: ["shopping_admin"],
      task_id: 7,
      intent_template_id: 1,
      start_urls: ["__SHOPPING_ADMIN__"],
      intent: "count",
      intent_template: "count",
      instantiation_dict: {},
      revision: 1,
      eval: [
        {
          evaluator: "AgentResponseEvaluator",
          results_schema: { type: "array", items: { type: "number" } },
          expected: { task_type: "retrieve", status: "SUCCESS", retrieved_data: [12] },
        },
      ],
    },
  ];
  const har = {
    log: { entries: [{ request: { url: "http://a/admin/", method: "GET" }, response: { status: 200 } }] },
  };

  const run = async (retrieved_data: unknown): Promise<string> => {
    await mkdir(join(folder, "runs", "7"), { recursive: true });
    await put("runs/7/agent_response.json", { task_type: "retrieve", status: "success", retrieved_data });
    await put("runs/7/network.har", har);
    return join(folder, "runs");
  };

  it("loads the tasks alone", async () => {
    const file = await put("tasks.json", tasks);
    const { code, stdout } = await cli(["verifier", "webarena", file, "--json"]);
    expect([code, JSON.parse(stdout)]).toEqual([0, { tasks: 1, runs: [] }]);
  });

  it("grades each run of a folder, and one by itself", async () => {
    const file = await put("tasks.json", tasks);
    const runs = await run(["twelve"]);
    const { code, stdout } = await cli(["verifier", "webarena", file, "--run", runs, "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      tasks: 1,
      runs: [{ task_id: 7, status: "success", score: 1, guessed_sites: ["shopping_admin"] }],
    });
    await run([13]);
    const failed = await cli([
      ...["verifier", "webarena", file, "--run", join(runs, "7")],
      ...["--site", "shopping_admin=http://a/admin"],
    ]);
    expect(failed.code).toBe(1);
    expect(failed.stdout).toContain("retrieved_data_array_values_mismatch");
    expect(failed.stdout).not.toContain("guessed");
  });

  it.each([
    ["an unknown site", ["--site", "shoping=http://a"], /did you mean shopping/],
    ["a folder without runs", ["--run", "."], /there is no run in it/],
    ["a task that is not there", ["--run", "8"], /there is no task 8/],
  ])("says what is wrong with %s", async (_, words, message) => {
    const file = await put("tasks.json", tasks);
    const { code, stderr } = await cli(["verifier", "webarena", file, ...words]);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });

  it("says where a task file is wrong", async () => {
    const file = await put("tasks.json", [{ ...tasks[0], revision: 0 }]);
    const { code, stdout } = await cli(["verifier", "webarena", file, "--json"]);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "bad_task", path: "[0].revision" } });
  });
});
