/** Runs, leaderboard and compare, as they are started. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SaxesParser } from "saxes";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openRunStore } from "../../src/rollout/store/index.js";
import { graded, lock, ungraded } from "../rollout/store/support.js";
import { cli } from "../support/cli.js";

const folder = mkdtempSync(join(tmpdir(), "shinken-runs-cli-"));
const path = join(folder, "runs.db");
const runs: Record<string, string> = {};
afterAll(() => rmSync(folder, { recursive: true }));

beforeAll(() => {
  const store = openRunStore(path);
  const play = (name: string, scores: readonly number[], model: string | null = "m-1"): void => {
    const id = store.begin({ ...lock, model }, { name });
    for (const task of ["a<b", "pipe|task"])
      for (const [replica, score] of scores.entries()) store.add(id, graded(task, replica, score));
    store.add(id, ungraded("a<b", scores.length));
    store.end(id, "finished");
    runs[name] = id;
  };
  play("good", [1, 1, 1, 1, 1, 0.5]);
  play("same", [1, 1, 1, 0.5, 1, 1]);
  play("bad", [0, 0, 0.5, 0, 1, 0]);
  play("other", [1, 1, 1, 1, 1, 0.5], "m-2");
  store.close();
});

const run = (words: readonly string[]) => cli([...words, "--store", path]);
const ids = (...names: string[]): string[] => names.map((name) => runs[name] ?? "");

/** Throws where a text is no well-formed XML. */
function elementsOf(text: string): string[] {
  const found: string[] = [];
  const parser = new SaxesParser();
  parser.on("opentag", ({ name }) => found.push(name));
  parser.on("error", (error) => {
    throw error;
  });
  parser.write(text).close();
  return found;
}

describe("shinken compare", () => {
  it("ends with 3 where the second run is significantly worse, and with 0 otherwise", async () => {
    const worse = await run(["compare", ...ids("good", "bad")]);
    expect(worse.code).toBe(3);
    expect(worse.stdout).toContain("B is worse than A");
    for (const pair of [ids("bad", "good"), ids("good", "same")]) {
      const { code, stdout } = await run(["compare", ...pair]);
      expect(code).toBe(0);
      expect(stdout).toContain("No significant regression");
    }
    const { code, stdout } = await run(["compare", ...ids("good", "bad"), "--json"]);
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      a: { run: runs["good"], provenance: "recorded" },
      tasks: [{ task: "a<b", ungraded_a: 1 }, { task: "pipe|task" }],
      regression: { significant: true },
      paired: { left_out: 0 },
      differences: [],
    });
  });

  it("ends with 2, and says what differs, where the runs were not played alike", async () => {
    const refused = await run(["compare", ...ids("good", "other"), "--json"]);
    expect(refused.code).toBe(2);
    expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: "locks_differ" } });
    expect(refused.stderr).toContain("model: m-1 and m-2");
    const allowed = await run(["compare", ...ids("good", "other"), "--allow-different", "model,revision"]);
    expect(allowed.code).toBe(0);
    expect(allowed.stdout).toContain("model: m-1 and m-2");
  });

  it("never ends with 3 for what is wrong or broken", async () => {
    const broken = join(folder, "broken.db");
    writeFileSync(broken, "no database ".repeat(1_000));
    const [good = ""] = ids("good");
    expect((await cli(["compare", good, good, "--store", broken])).code).toBe(1);
    expect((await cli(["compare", good, good, "--store", join(folder, "none.db")])).code).toBe(2);
    expect((await run(["compare", good, "nobody"])).code).toBe(2);
    expect((await run(["compare", good])).code).toBe(2);
    expect((await run(["compare", good, good, "--allow-different", "modle"])).code).toBe(2);
    expect(existsSync(join(folder, "none.db"))).toBe(false);
  });

  it("writes a report in Markdown and draws the intervals, whatever tasks are called", async () => {
    const [markdown, svg] = [join(folder, "report.md"), join(folder, "report.svg")];
    const words = ["compare", ...ids("good", "bad"), "--markdown", markdown, "--svg", svg];
    expect((await run(words)).code).toBe(3);
    const text = readFileSync(markdown, "utf8");
    expect(text).toContain("**B is worse than A");
    expect(text).toContain("| pipe\\|task | 0.917 | 0.250 | -0.667 |");
    const drawing = readFileSync(svg, "utf8");
    const names = elementsOf(drawing);
    expect(names.filter((name) => name === "circle")).toHaveLength(2);
    expect(drawing).toContain("a&lt;b");
    expect(drawing).toContain("prefers-color-scheme: dark");
  });
});

describe("shinken leaderboard", () => {
  it("says where each score comes from, also of what somebody told", async () => {
    const report = join(folder, "told.json");
    writeFileSync(
      report,
      JSON.stringify({
        task_set: lock.taskSet,
        operator: "x",
        model: "m-9",
        source: "a paper",
        results: [{ task: "a<b", score: 1 }],
      }),
    );
    expect((await run(["runs", "import", report])).code).toBe(0);
    const { code, stdout } = await run(["leaderboard", "--task-set", "set"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/m-9 +self-reported +1\.000/);
    expect(stdout).toMatch(/m-1 @2026-01-01 +recorded here +0\.917/);
    expect(stdout).toMatch(/Not all lines are comparable: they differ in .*provenance/);
    const [markdown, svg] = [join(folder, "board.md"), join(folder, "board.svg")];
    const files = await run(["leaderboard", "--json", "--markdown", markdown, "--svg", svg]);
    const { rows } = JSON.parse(files.stdout) as { rows: { provenance: string }[] };
    expect(rows).toHaveLength(5);
    expect(rows[0]?.provenance).toBe("self_reported");
    expect(readFileSync(markdown, "utf8")).toContain("| self-reported | 1.000 |");
    expect(elementsOf(readFileSync(svg, "utf8")).filter((name) => name === "circle")).toHaveLength(5);
  });
});

describe("shinken runs", () => {
  it("lists by itself, shows one by the beginning of its id, and exports", async () => {
    const listed = await run(["runs", "--json"]);
    const { runs: found } = JSON.parse(listed.stdout) as { runs: { run: string; lock: object }[] };
    expect(found.map((one) => one.run)).toEqual(expect.arrayContaining(Object.values(runs)));
    const plain = await run(["runs", "list", "--model", "m-2"]);
    expect(plain.stdout).toContain(runs["other"]?.slice(0, 8));
    expect(plain.stdout).not.toContain(runs["good"]?.slice(0, 8));
    const shown = await run(["runs", "show", runs["bad"]?.slice(0, 10) ?? ""]);
    expect(shown.stdout).toContain("settings.temperature  0.25");
    expect(shown.stdout).toMatch(/a<b +recorded +0\.250 +1\/6 +1 /);
    expect(shown.stdout).toContain("a<b, replica 6, attempt 0: machine_died");
    const to = join(folder, "out.parquet");
    const exported = await run(["runs", "export", "--to", to, "--run", runs["bad"] ?? "", "--json"]);
    expect(JSON.parse(exported.stdout)).toMatchObject({ rows: 13, runs: 1, to });
    expect(existsSync(to)).toBe(true);
  });

  it("says that there is no store where there is none", async () => {
    const { code, stdout } = await cli(["runs", "--json", "--store", join(folder, "none.db")]);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "store_missing" } });
  });
});
