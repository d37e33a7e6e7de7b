import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cli, namesOf, root } from "../support/cli.js";
import { machinesUnavailable } from "../support/machine.js";

const unavailable = await machinesUnavailable();
const demoLabels = join(root, "tasks", "demo-labels");

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "shinken cli-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function put(name: string, ...lines: unknown[]): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return file;
}

const parsed = (text: string) => JSON.parse(text) as Record<string, unknown>;

describe("verifier agree on recorded verdicts", () => {
  it("reports a judge against people, and a program beside it", async () => {
    const file = await put(
      "judged.jsonl",
      {
        id: "a",
        label: "right",
        judge: { passed: true, score: 0.9, rationale: "looks done" },
        verdict: "failed",
      },
      { id: "b", label: "wrong", judge: "passed", verdict: "failed" },
      { id: "c", label: "wrong", judge: "ungraded" },
      { id: "d", label: "nearly", judge: "failed" },
    );
    const { code, stdout } = await cli(["verifier", "agree", file, "--json"]);
    expect(code).toBe(0);
    expect(parsed(stdout)["graders"]).toMatchObject([
      { grader: "program", cases: 2, without_nearly: { agreement: { n: 2, count: 1 } } },
      { grader: "judge", cases: 4, ungraded: 1, without_nearly: { agreement: { n: 2, count: 1 } } },
    ]);
    expect(namesOf(parsed(stdout)).filter((name) => /[A-Z]/.test(name))).toEqual([]);
    const { stdout: text } = await cli(["verifier", "agree", file]);
    expect(text).toContain("judge against people: 4 cases, 1 of them ungraded");
    expect(text).toContain("b: wrong, graded passed");
  });

  it("refuses a file that is wrong with exit code 2, the line and a suggestion", async () => {
    const file = await put("wrong.jsonl", { id: "a", label: "rihgt", verdict: "passed" });
    const { code, stdout } = await cli(["verifier", "agree", file, "--json"]);
    expect(code).toBe(2);
    expect(parsed(stdout)["error"]).toMatchObject({
      code: "bad_request",
      path: `${file}:1.label`,
      suggestion: 'did you mean "right"?',
    });
  });

  it("says which state was probably meant", async () => {
    const words = ["verifier", "agree", demoLabels, "--only", "sort-scans/empty_folder_lef"];
    const { code, stderr } = await cli(words);
    expect(code).toBe(2);
    expect(stderr).toContain('did you mean "sort-scans/empty_folder_left"?');
  });
});

describe("verifier diff on recorded verdicts", () => {
  it("exits 1 where a verdict changed or is missing, and 0 where none did", async () => {
    const before = await put("before.jsonl", { id: "a", verdict: "passed" }, { id: "b", verdict: "failed" });
    const after = await put("after.jsonl", { id: "a", verdict: "passed" }, { id: "b", verdict: "passed" });
    const part = await put("part.jsonl", { id: "a", verdict: "passed" });
    const changed = await cli(["verifier", "diff", before, after, before, "--json"]);
    expect(changed.code).toBe(1);
    expect(parsed(changed.stdout)).toMatchObject({ compared: 2, changed: [{ id: "b", fields: ["passed"] }] });
    const missing = await cli(["verifier", "diff", before, part, before]);
    expect(missing).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("no verdict after: b") as string,
    });
    expect((await cli(["verifier", "diff", before, after, part])).code).toBe(0);
  });
});

describe("verifier triage on recorded verdicts", () => {
  it("orders the states of a corpus by recorded verdicts, and says of which there are none", async () => {
    const verdicts = await put(
      "triage.jsonl",
      { id: "sort-scans/filed_as_private", verdict: "failed", judge: "passed" },
      { id: "sort-scans/hyphen_missed", verdict: "passed" },
      { id: "sort-scans/as_the_oracle_leaves_it", verdict: "passed" },
    );
    const labels = join(demoLabels, "sort-scans.yaml");
    const { code, stdout } = await cli(["verifier", "triage", labels, "--verdicts", verdicts, "--json"]);
    expect(code).toBe(0);
    const { cases, without_verdict: without } = parsed(stdout) as unknown as {
      cases: { id: string; rank: number; regrade: string }[];
      without_verdict: string[];
    };
    expect(cases.map(({ id, rank }) => [id, rank])).toEqual([
      ["sort-scans/filed_as_private", 0],
      ["sort-scans/hyphen_missed", 1],
      ["sort-scans/as_the_oracle_leaves_it", 7],
    ]);
    expect(without).toContain("sort-scans/empty_folder_left");
  });
});

const task = {
  id: "word",
  version: "1.0.0",
  instruction: "Write yes to word.txt.",
  verify: {
    graph: {
      id: "word",
      channel: "fs",
      query: { kind: "text", path: "/home/agent/word.txt" },
      assert: { type: "text", equals: "yes\n" },
    },
  },
  oracle: [{ type: "exec", command: "echo yes > word.txt" }],
};
const write = (text: string) => [{ write: { path: "/home/agent/word.txt", text } }];
const states = [
  { id: "solved", label: "right", note: "As asked.", agreed: true },
  { id: "no_line_end", label: "right", note: "The word is there.", steps: write("yes") },
  { id: "no", label: "wrong", note: "Another word.", steps: write("no\n"), judge: { passed: true } },
  { id: "capital", label: "nearly", note: "Another letter.", steps: write("Yes\n") },
];

describe.skipIf(unavailable !== null)("a small corpus on real machines", () => {
  const [labels, strict, lenient] = ["my labels", "strict", "lenient"].map(
    (name) => () => join(folder, name),
  );
  const at = (place: (() => string) | undefined) => place?.() ?? "";

  beforeAll(async () => {
    await mkdir(at(labels));
    await put(join("my labels", "word.json"), {
      format: 1,
      tasks: "../strict",
      task: "word",
      by: "somebody",
      states,
    });
    const { graph } = task.verify;
    const trimmed = { ...graph, assert: { ...graph.assert, normalise: ["trim", "lower"] } };
    for (const [place, one] of [
      [strict, graph],
      [lenient, trimmed],
    ] as const) {
      await mkdir(at(place));
      await writeFile(join(at(place), "task.json"), JSON.stringify({ ...task, verify: { graph: one } }));
    }
    await mkdir(join(folder, "bin"));
    await symlink(join(root, "bin", "shinken"), join(folder, "bin", "shinken"));
  });

  it("is graded, compared and recorded", async () => {
    const record = join(folder, "recorded.jsonl");
    const { code, stdout, stderr } = await cli(["verifier", "agree", at(labels), "--record", record]);
    expect(code).toBe(0);
    expect(stderr).toContain("100 %");
    expect(stdout).toContain("left out  2/3 = 66.7 %");
    expect(stdout).toContain("word/no_line_end: right, graded failed");
    const lines = (await readFile(record, "utf8")).trimEnd().split("\n").map(parsed);
    expect(
      lines.map(({ id, label, verdict }) => [id, label, (verdict as { passed: boolean }).passed]),
    ).toEqual([
      ["word/solved", "right", true],
      ["word/no_line_end", "right", false],
      ["word/no", "wrong", false],
      ["word/capital", "nearly", false],
    ]);
    // The record says the same as the machines, and a second grading the same as the first.
    const [from, again] = [await cli(["verifier", "agree", record]), `${record}.again.jsonl`];
    expect(from.stdout).toBe(stdout);
    await cli(["verifier", "agree", at(labels), "--record", again]);
    expect((await cli(["verifier", "diff", record, again, at(labels)])).code).toBe(0);
  });

  it("exits with 1 once a state marked as agreed is graded otherwise", async () => {
    const other = join(folder, "other");
    await mkdir(other);
    const graph = { ...task.verify.graph, assert: { type: "text", equals: "no\n" } };
    await writeFile(join(other, "task.json"), JSON.stringify({ ...task, verify: { graph } }));
    const { code, stdout } = await cli(["verifier", "agree", at(labels), "--tasks", other, "--json"]);
    expect(code).toBe(1);
    expect(parsed(stdout)["graders"]).toMatchObject([{ broken: ["word/solved"] }, { grader: "judge" }]);
  });

  it("shows what another version of the task grades otherwise", async () => {
    const { code, stdout } = await cli(["verifier", "diff", at(strict), at(lenient), at(labels)]);
    expect(code).toBe(1);
    expect(stdout).toContain("4 compared; 2 verdicts changed, 0 scores alone, 0 only in their checks");
    expect(stdout).toContain("word/no_line_end (right): failed (0.00) -> passed (1.00)");
    expect(stdout).toContain("word/capital (nearly): failed (0.00) -> passed (1.00)");
    const none = await cli(["verifier", "diff", at(strict), at(strict), at(labels), "--json"]);
    expect(none.code).toBe(0);
    expect(parsed(none.stdout)).toMatchObject({ compared: 0, same_task: 4 });
  });

  it("is triaged, with a command for each state that grades it anew", async () => {
    const { code, stdout } = await cli(["verifier", "triage", at(labels), "--json"]);
    expect(code).toBe(0);
    const { cases } = parsed(stdout) as unknown as {
      cases: { id: string; program: string; regrade: string }[];
    };
    expect(cases.map(({ id }) => id)).toEqual(["word/no_line_end", "word/no", "word/capital", "word/solved"]);
    const [first] = cases;
    const env = { ...process.env, PATH: [join(folder, "bin"), process.env["PATH"]].join(delimiter) };
    const regraded = await promisify(execFile)("sh", ["-c", first?.regrade ?? "false"], { env });
    expect(regraded.stdout).toContain("program against people: 1 cases");
    expect(regraded.stdout).toContain("word/no_line_end: right, graded failed");
  });
});
