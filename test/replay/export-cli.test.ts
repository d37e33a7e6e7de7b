/** The commands that list, show and export, as they are started. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { openRunStore } from "../../src/rollout/store/index.js";
import { cli, namesOf } from "../support/cli.js";
import { folder, readJsonLines, readParquet } from "./export/reading.js";

const bundles = join(dirname(fileURLToPath(import.meta.url)), "export", "golden", "bundles");
const letters = join(bundles, "letters");
const [first = ""] = readdirSync(letters).sort();
const bundle = join(letters, first);
/** Nobody's state folder. */
const env = { SHINKEN_STATE: "/nonexistent", NO_COLOR: "" };

describe("shinken replay export", () => {
  it("writes what the filters take, and counts the rest", async () => {
    const to = join(folder(), "chat.jsonl");
    const words = [
      "replay",
      "export",
      bundles,
      "--format",
      "sft",
      "--label",
      "run=r1",
      "--passed",
      "--to",
      to,
      "--json",
    ];
    const { code, stdout, stderr } = await cli(words, { env });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      format: "sft",
      files: 4,
      episodes: 1,
      rows: 1,
      left_out: { label: 1, ungraded: 1, not_passed: 1 },
      unreadable: [],
    });
    expect(stderr).toContain("replay export");
    expect(readJsonLines(to)).toMatchObject([{ passed: true, model: "m-2" }]);
  });

  it("writes Parquet, and says in words what was left out", async () => {
    const to = join(folder(), "steps.parquet");
    const { code, stdout } = await cli(["replay", "export", bundles, "--to", to, "--task", "suite/*"], {
      env,
    });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^0 rows of 0 episodes, from 4 files/);
    expect(stdout).toContain("1 left out: evaluation only");
    expect(await readParquet(to)).toEqual([]);
  });

  it("takes verdicts of later gradings", async () => {
    const at = folder();
    const to = join(at, "rows.jsonl");
    const { episode } = readJsonLines(join(bundles, "..", "sft.jsonl"))[0] as { episode: string };
    const store = openRunStore(join(at, "runs.db"));
    for (const score of [0.5, 1])
      store.addGrading({
        episode,
        file: "x",
        sha256: "",
        task: "letters",
        task_version: "1.0.0",
        verifier: "v2",
        runtime: "t",
        by: "rerun",
        provenance: "regraded",
        verdict: { status: "graded", score, passed: score === 1, checks: [] },
      });
    store.close();
    const words = [
      "replay",
      "export",
      bundles,
      "--to",
      to,
      "--verdicts",
      join(at, "runs.db"),
      "--format",
      "sft",
      "--min-score",
      "1",
    ];
    expect((await cli(words, { env })).code).toBe(0);
    expect(readJsonLines(to).find((row) => row["episode"] === episode)).toMatchObject({
      score: 1,
      verifier: "v2",
      verdict_from: "regraded",
    });
    expect((await cli([...words, "--verdicts", bundles], { env })).code).toBe(2);
  });

  it("ends with 1 where a file could not be read, and with 2 for what is wrong on the command line", async () => {
    const at = folder();
    const broken = join(at, "broken.skn");
    writeFileSync(broken, "no bundle");
    const to = join(at, "rows.jsonl");
    const failed = await cli(["replay", "export", broken, bundle, "--to", to, "--json"], { env });
    expect(failed.code).toBe(1);
    expect(JSON.parse(failed.stdout)).toMatchObject({
      episodes: 1,
      unreadable: [{ file: broken, code: "bad_bundle" }],
    });
    const wrong = [
      ["--to", join(at, "rows.csv")],
      ["--to", join(at, "no", "rows.jsonl")],
      ["--to", to, "--format", "csv"],
      ["--to", to, "--min-score", "2"],
      ["--to", to, "--label", "run"],
      [],
    ];
    for (const words of wrong)
      expect((await cli(["replay", "export", bundle, ...words], { env })).code).toBe(2);
    expect((await cli(["replay", "export", at + "/none", "--to", to], { env })).code).toBe(2);
  });
});

describe("shinken replay show", () => {
  it("prints the episode, a step of it, or one JSON object with names as on the wire", async () => {
    const whole = await cli(["replay", "show", bundle], { env });
    expect(whole.code).toBe(0);
    expect(whole.stdout).toContain("letters 1.0.0");
    const one = await cli(["replay", "show", bundle, "--step", "1"], { env });
    expect(one.code).toBe(0);
    expect(one.stdout).toMatch(/^Step 1 /);
    const json = await cli(["replay", "show", bundle, "--json"], { env });
    const episode = JSON.parse(json.stdout) as Record<string, unknown>;
    const bytes = readFileSync(bundle);
    expect(episode).toMatchObject({ bytes: bytes.byteLength, finished: true });
    expect(episode["sha256"]).toBe(createHash("sha256").update(bytes).digest("hex"));
    expect(namesOf(episode).filter((name) => /[A-Z]/.test(name))).toEqual([]);
  });

  it("quotes no control character in a complaint either", async () => {
    const { code, stderr } = await cli(["replay", "show", "/no\u001b[2J\u009b31m.skn"], { env });
    expect(code).toBe(2);
    expect(stderr).toContain("\\x1b[2J\\x9b31m.skn");
  });

  it("ends with 2 where there is no such step, no such file, or no bundle", async () => {
    const broken = join(folder(), "broken.skn");
    writeFileSync(broken, "no bundle");
    expect((await cli(["replay", "show", bundle, "--step", "99"], { env })).code).toBe(2);
    expect((await cli(["replay", "show", `${bundle}.none`], { env })).code).toBe(2);
    expect((await cli(["replay", "show", broken], { env })).code).toBe(2);
    expect((await cli(["replay", "show", bundles], { env })).stderr).toContain("replay list");
  });
});

describe("shinken replay list", () => {
  it("has a line for each episode", async () => {
    const { code, stdout } = await cli(["replay", "list", bundles], { env });
    expect(code).toBe(0);
    expect(stdout.split("\n").filter((line) => line.includes(".skn"))).toHaveLength(4);
    const json = JSON.parse((await cli(["replay", "list", bundles, "--json"], { env })).stdout) as Record<
      string,
      unknown
    >;
    expect(json["episodes"]).toHaveLength(4);
    expect((await cli(["replay", "list", join(bundles, "none")], { env })).code).toBe(2);
  });
});
