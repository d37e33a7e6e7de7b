import { existsSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { openRunStore } from "../../src/rollout/store/index.js";
import { document } from "../env/session-support.js";
import { folderForFile } from "../rollout/replays/support.js";
import { cli, finished, startCli } from "../support/cli.js";
import { machinesUnavailable } from "../support/machine.js";
import { scriptedFactory } from "../support/scripted-environment.js";
import { start, stopAll } from "../support/wire-server.js";

const unavailable = await machinesUnavailable();
const folder = folderForFile();
const tasks = join(folder, "tasks");
const store = join(folder, "runs.db");

interface Report {
  run: string;
  total: { n: number; passed: number; ungraded: number; pass_at_1: number | null; best_of_n: number | null };
  tasks: { n: number; ci: [number, number] }[];
  episodes: { task: string; replica: number; seed: number; attempts: { stage: string | null }[] }[];
  pipeline: Record<string, { size: number; done: number }>;
  not_played: number;
}

beforeAll(async () => {
  await mkdir(join(tasks, "two-files"), { recursive: true });
  await writeFile(join(tasks, "two-files", "task.json"), JSON.stringify(document));
});

function evaluate(...words: string[]) {
  return cli(["eval", tasks, "--store", store, "--json", ...words]);
}

const rows = (run: string) => {
  const opened = openRunStore(store);
  try {
    return { info: opened.run(run), episodes: opened.episodes(run) };
  } finally {
    opened.close();
  }
};

describe("shinken eval at a server of somebody else", () => {
  afterEach(stopAll);

  it.each([
    ["two-files", "0.0.1", /two-files 0\.0\.1, not /],
    ["other", "1.0.0", /no two-files/],
  ])("plays nothing where that has %s %s", async (id, version, message) => {
    const others = [{ id, version, instruction: "Anything.", tags: [] }];
    const server = await start({ factory: { ...scriptedFactory, tasks: () => others } });
    const { code, stdout } = await evaluate("--url", server.url, "--no-store");
    expect(code).toBe(2);
    const { error } = JSON.parse(stdout) as { error: { code: string; path: string; message: string } };
    expect(error).toMatchObject({ code: "bad_request", path: "--url" });
    expect(error.message).toMatch(message);
  });
});

describe.skipIf(unavailable !== null)("shinken eval", () => {
  it("keeps the run in the store, tells what the pools did, and writes reports", async () => {
    const [markdown, json] = [join(folder, "card.md"), join(folder, "card.json")];
    const pools = ["--concurrency", "2", "--init-pool", "3", "--verify-pool", "1"];
    const { code, stdout, stderr } = await evaluate(
      ...["--replicas", "3", ...pools, "--report", markdown, "--report", json],
    );
    expect(code).toBe(0);
    const report = JSON.parse(stdout) as Report;
    expect(report.total).toMatchObject({ n: 3, passed: 3, ungraded: 0, pass_at_1: 1, best_of_n: null });
    expect(report.pipeline).toMatchObject({
      init: { size: 3, done: 3 },
      run: { size: 2, done: 3 },
      verify: { size: 1, done: 3 },
    });
    const { info, episodes } = rows(report.run);
    expect(info).toMatchObject({ status: "finished", lock: { operator: "oracle", replicas: 3 } });
    expect(episodes.map(({ replica, passed }) => [replica, passed]).sort()).toEqual([
      [0, true],
      [1, true],
      [2, true],
    ]);
    expect(JSON.parse(readFileSync(json, "utf8"))).toEqual(report);
    const page = readFileSync(markdown, "utf8");
    expect(page).toContain("| two-files |");
    expect(page).toContain("![Intervals of the tasks](card.svg)");
    expect(page).toContain(report.run);
    expect(readFileSync(join(folder, "card.svg"), "utf8")).toMatch(/^<svg.*\n[^]*two-files/);
    // Not a terminal: plain lines.
    expect(stderr).toContain("== eval: oracle: 3/3 episodes");
  }, 120_000);

  it("ends cleanly when it is interrupted, keeps what is done, and goes on with the rest alone", async () => {
    const child = startCli([
      "eval",
      tasks,
      "--store",
      store,
      "--replicas",
      "30",
      "--concurrency",
      "1",
      "--json",
    ]);
    const end = finished(child);
    // Once some are in the store.
    let run: string | undefined;
    while (run === undefined && child.exitCode === null) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      const opened = openRunStore(store);
      run = opened.runs().find(({ status, episodes }) => status === "open" && episodes >= 2)?.id;
      opened.close();
    }
    child.kill("SIGINT");
    const { code, stdout, stderr } = await end;
    expect(code).toBe(130);
    const report = JSON.parse(stdout) as Report;
    expect(report.run).toBe(run);
    const kept = rows(report.run);
    expect(kept.info).toMatchObject({ status: "interrupted" });
    expect(kept.episodes.length).toBeGreaterThanOrEqual(2);
    expect(kept.episodes.length).toBe(report.total.n);
    expect(report.not_played).toBe(30 - report.total.n);
    expect(kept.episodes.every(({ status }) => status === "graded")).toBe(true);
    expect(stderr).toContain(`--resume ${report.run.slice(0, 8)}`);

    const otherwise = await evaluate("--replicas", "30", "--seed", "1", "--resume", report.run);
    expect(otherwise.code).toBe(2);
    expect(otherwise.stdout).toContain("seed 0, now 1");

    const again = await evaluate("--replicas", "30", "--resume", report.run.slice(0, 8));
    expect(again.code).toBe(0);
    const whole = JSON.parse(again.stdout) as Report;
    expect(whole).toMatchObject({ run: report.run, not_played: 0, total: { n: 30, passed: 30 } });
    expect(whole.pipeline["run"]?.done).toBe(30 - report.total.n);
    const all = rows(report.run);
    expect(all.info).toMatchObject({ status: "finished" });
    expect(new Set(all.episodes.map(({ replica }) => replica)).size).toBe(30);
    expect(all.episodes).toHaveLength(30);
  }, 240_000);

  it("plays nothing for a report that could not be written", async () => {
    const report = join(folder, "nowhere", "card.md");
    const { code, stdout } = await evaluate("--report", report);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "bad_request", path: "--report" } });
  });

  it("plays more replicas of a task until its interval is narrow, and no more than it may", async () => {
    const until = async (...words: string[]) =>
      JSON.parse((await evaluate("--replicas", "2", ...words)).stdout) as Report;
    const [narrow] = (await until("--until-width", "0.6")).tasks;
    expect(narrow?.n).toBeGreaterThan(2);
    const [low, high] = narrow?.ci ?? [0, 1];
    expect(high - low).toBeLessThanOrEqual(0.6);
    const [bounded] = (await until("--until-width", "0.01", "--replicas-most", "4")).tasks;
    expect(bounded?.n).toBe(4);
  }, 120_000);

  it("reports the best of several tries as what it is, and keeps nothing where it is told to", async () => {
    const before = openRunStore(store);
    const count = before.runs().length;
    before.close();
    const words = [
      "--no-store",
      "--replicas",
      "1",
      "--best-of",
      "2",
      "--select",
      "reward",
      "--best-from",
      "1",
      "--json",
    ];
    const { code, stdout } = await cli(["eval", tasks, ...words]);
    expect(code).toBe(0);
    const report = JSON.parse(stdout) as Report;
    expect(report).toMatchObject({ best_of: { n: 2, rule: "reward", from_step: 1 } });
    expect(report.total).toMatchObject({ n: 1, pass_at_1: null, best_of_n: 1 });
    const after = openRunStore(store);
    expect(after.runs()).toHaveLength(count);
    after.close();
  }, 120_000);
});

describe("the command line of shinken eval", () => {
  it.each([
    [["--report", "card.txt"], "Markdown or JSON"],
    [["--no-store", "--resume", "x"], "--resume needs the store"],
    [["--until-width", "2"], "above 0 and below 1"],
    [["--select", "luck"], "Allowed choices"],
  ])("refuses %j", async (words, message) => {
    const { code, stderr } = await cli(["eval", tasks, ...words]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(existsSync("card.txt")).toBe(false);
  });
});
