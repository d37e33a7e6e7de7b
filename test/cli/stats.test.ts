import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cli } from "../support/cli.js";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "shinken-stats-"));
});
afterAll(() => rm(folder, { recursive: true }));

const example = {
  tasks: [
    [1, 0, 1, null],
    [1, 1, 1, 1],
  ],
  k: 3,
  confidence: 0.95,
  seed: 1,
  resamples: 10_000,
};

interface Printed {
  per_task: Record<string, unknown>[];
  error?: { code: string; path?: string; suggestion?: string };
}

describe("shinken stats", () => {
  it("reads a file or standard input and prints one object of just these figures", async () => {
    const file = join(folder, "scores.json");
    await writeFile(file, JSON.stringify(example));
    const ofFile = await cli(["stats", file, "--json"]);
    const ofInput = await cli(["stats", "-", "--json"], { input: JSON.stringify(example) });
    const ofNothing = await cli(["stats", "--json"], { input: JSON.stringify(example) });
    expect(ofFile).toMatchObject({ code: 0, stderr: "" });
    expect(ofInput.stdout).toBe(ofFile.stdout);
    expect(ofNothing.stdout).toBe(ofFile.stdout);
    const printed = JSON.parse(ofFile.stdout) as Printed;
    expect(Object.keys(printed)).toEqual([
      "per_task",
      "pass_at_k",
      "pass_hat_k",
      "score_mean",
      "score_ci",
      "icc1",
      "icc1_ci",
      "ungraded",
      "reasons",
    ]);
    expect(Object.keys(printed.per_task[0] ?? {})).toEqual([
      "n",
      "passed",
      "ungraded",
      "pass_at_k",
      "pass_hat_k",
      "wilson",
      "clopper_pearson",
    ]);
    expect(printed).toMatchObject({ pass_at_k: 1, pass_hat_k: 0.5, ungraded: 1, reasons: {} });
  });

  it("prints a table for people", async () => {
    const { code, stdout } = await cli(["stats"], { input: JSON.stringify(example) });
    expect(code).toBe(0);
    expect(stdout).toContain("Clopper-Pearson");
    expect(stdout).toContain("1 ungraded, in none of the figures");
  });

  it.each([
    ['{"tasks": [[1, true]]}', "bad_request", "tasks[0][1]"],
    ['{"tasks": [[1]], "seeds": 1}', "bad_request", "seeds"],
    ['{"tasks": [[1]', "bad_request", "-"],
    ["", "bad_request", "-"],
  ])("refuses %s with exit code 2", async (input, code, path) => {
    const { code: exit, stdout, stderr } = await cli(["stats", "--json"], { input });
    expect(exit).toBe(2);
    expect((JSON.parse(stdout) as Printed).error).toMatchObject({ code, path });
    expect(stderr).toContain("shinken: ");
  });

  it("says that a file is not there", async () => {
    const { code, stderr } = await cli(["stats", join(folder, "none.json")]);
    expect(code).toBe(2);
    expect(stderr).toContain("ENOENT");
  });

  it("takes a million replicas", async () => {
    const scores = Array.from({ length: 1_000_000 }, (_, index) => (index % 3 === 0 ? 0 : 1));
    const { code, stdout } = await cli(["stats", "--json"], { input: JSON.stringify({ tasks: [scores] }) });
    expect(code).toBe(0);
    expect((JSON.parse(stdout) as Printed).per_task[0]).toMatchObject({ n: 1_000_000, passed: 666_666 });
  });

  it("refuses more text than it would hold", async () => {
    const { code, stdout } = await cli(["stats", "--json"], { input: " ".repeat(64 * 1024 * 1024 + 1) });
    expect(code).toBe(2);
    expect((JSON.parse(stdout) as Printed).error?.code).toBe("too_large");
  });
});
