import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { bundleFiles } from "../../src/replay/files.js";
import {
  type ExportFilter,
  type ExportFormatName,
  type ExportReport,
  exportBundles,
  exportFormatNames,
} from "../../src/replay/export/index.js";
import { noFacts, readIndex, RecordedEnvironment } from "../../src/replay/index.js";
import { openWorlds, sh } from "../env/session-support.js";
import {
  died,
  exam,
  letters,
  lettersBranch,
  start,
  stepEvents,
  verdictEvent,
  writeExample,
} from "./export/examples.js";
import { folder, readJsonLines, readParquet, said } from "./export/reading.js";
import { recorder } from "./support/recording.js";

const here = dirname(fileURLToPath(import.meta.url));
const golden = join(here, "export", "golden");
/** The examples as they were written once: episodes have ids of their own. */
const bundles = join(golden, "bundles");

/** All examples in one folder; the branch's parent lies beside it. */
async function examples(): Promise<string> {
  const into = recorder();
  const parent = await writeExample(into, letters);
  await writeExample(into, lettersBranch(parent));
  await writeExample(into, died);
  await writeExample(into, exam);
  return into.folder;
}

interface Exported extends ExportReport {
  all: Record<string, unknown>[];
}

async function exported(
  from: string,
  format: ExportFormatName,
  filter: ExportFilter = {},
): Promise<Exported> {
  const to = join(folder(), "rows.jsonl");
  const report = await exportBundles({ files: await bundleFiles([from]), format, to, filter });
  return { ...report, all: readJsonLines(to) };
}

/** Descriptions of tools are this program's, not the bundles'. */
const withoutTools = ({ tools: _tools, ...row }: Record<string, unknown>): Record<string, unknown> => row;
const goldenRows = (format: ExportFormatName): Record<string, unknown>[] =>
  readJsonLines(join(golden, `${format}.jsonl`));

const open = openWorlds();

/** Names of the tools that a row offers. */
function toolsIn(row: Record<string, unknown> | undefined): string[] {
  const tools = JSON.parse(String(row?.["tools"])) as { function: { name: string } }[];
  return tools.map(({ function: { name } }) => name);
}

const everything: ExportFilter = { includeUngraded: true, includeEval: true };

describe("an export", () => {
  it.each(exportFormatNames)("of the golden bundles has the golden rows: %s", async (format) => {
    const to = join(folder(), "rows.jsonl");
    await exportBundles({ files: await bundleFiles([bundles]), format, to, filter: everything });
    expect(readJsonLines(to).map(withoutTools)).toEqual(goldenRows(format));
  });

  it.each(exportFormatNames)("has the same rows as Parquet: %s", async (format) => {
    const to = join(folder(), "rows.parquet");
    const report = await exportBundles({
      files: await bundleFiles([bundles]),
      format,
      to,
      filter: everything,
    });
    const rows = await readParquet(to);
    expect(rows).toHaveLength(report.rows);
    expect(said(rows.map(withoutTools))).toEqual(said(goldenRows(format)));
  });
});

describe("what an export takes", () => {
  it("is neither ungraded nor for measuring only, unless asked for", async () => {
    const from = await examples();
    const plain = await exported(from, "sft");
    expect(plain).toMatchObject({ files: 4, episodes: 2, rows: 2 });
    expect(plain.left_out).toMatchObject({ ungraded: 1, evaluation_only: 1 });
    expect((await exported(from, "sft", { includeUngraded: true })).episodes).toBe(3);
    expect((await exported(from, "sft", { includeEval: true })).episodes).toBe(3);
  });

  it("is chosen by score, verdict, task, version and labels, and what is not is counted", async () => {
    const from = await examples();
    const chosen = async (
      filter: ExportFilter,
      reason: keyof ExportReport["left_out"],
    ): Promise<number[]> => {
      const { episodes, left_out: out } = await exported(from, "sft", { ...everything, ...filter });
      return [episodes, out[reason]];
    };
    expect(await chosen({ minScore: 0.8 }, "score")).toEqual([2, 2]);
    expect(await chosen({ maxScore: 0.75 }, "score")).toEqual([1, 3]);
    expect(await chosen({ minScore: 0.75, maxScore: 0.75 }, "score")).toEqual([1, 3]);
    expect(await chosen({ passed: true }, "not_passed")).toEqual([2, 2]);
    expect(await chosen({ tasks: ["let*"] }, "task")).toEqual([3, 1]);
    expect(await chosen({ tasks: ["*"] }, "task")).toEqual([3, 1]);
    expect(await chosen({ tasks: ["**"] }, "task")).toEqual([4, 0]);
    expect(await chosen({ tasks: ["suite/*", "letters"] }, "task")).toEqual([4, 0]);
    expect(await chosen({ taskVersions: ["2.*"] }, "task_version")).toEqual([1, 3]);
    expect(await chosen({ labels: { run: "r1", replica: "1" } }, "label")).toEqual([1, 3]);
    expect(await chosen({ labels: { constructor: "x" } }, "label")).toEqual([0, 4]);
  });

  it("is told apart by what the task says of its use, from its file to the data set", async () => {
    const into = recorder();
    for (const change of [{ use: "eval" }, { capabilities: { agent: ["exec"] } }]) {
      const { session } = open(change);
      const environment = new RecordedEnvironment(session, into, {}, noFacts);
      await environment.reset({ seed: 1 });
      await environment.step([sh("echo 1 > one; echo 2 > two")]);
      await environment.evaluate();
      await environment.close();
    }
    const { all, left_out: out } = await exported(into.folder, "sft");
    expect([all.length, out.evaluation_only]).toEqual([1, 1]);
    expect(all[0]).toMatchObject({ task: "two-files", status: "graded", passed: true });
    expect(toolsIn(all[0])).toEqual(["exec", "wait", "done", "fail"]);
  });

  it("is ungraded where the verdict was on an earlier state than the last", async () => {
    const into = recorder();
    const [verdict, ...others] = [letters.events.at(-1), ...letters.events.slice(0, -1)];
    if (verdict === undefined) throw new Error("no verdict");
    const at = others.findIndex(({ step }) => step === 2);
    const events = [...others.slice(0, at), { ...verdict, step: 1 }, ...others.slice(at)];
    await writeExample(into, { ...letters, events });
    expect((await exported(into.folder, "sft")).left_out.ungraded).toBe(1);
  });

  it("is judged by later verdicts, where these are given", async () => {
    const into = recorder();
    const { episode } = await writeExample(into, letters);
    const to = join(folder(), "rows.jsonl");
    const later = { status: "graded", score: 1, passed: true, verifier: "v2", from: "regraded" } as const;
    const verdicts = new Map([[episode, later]]);
    const files = await bundleFiles([into.folder]);
    await exportBundles({ files, format: "trl", to, filter: { passed: true }, verdicts });
    expect(readJsonLines(to)).toMatchObject([{ reward: 1, verifier: "v2", verdict_from: "regraded" }]);
  });

  it("is each episode once, however many files hold it", async () => {
    const from = await examples();
    const [file = ""] = readdirSync(join(from, "letters"));
    copyFileSync(join(from, "letters", file), join(from, "letters", "copy.skn"));
    const { episodes, left_out: out } = await exported(from, "sft", everything);
    expect([episodes, out.duplicate]).toEqual([4, 1]);
  });

  it("tells of files that cannot be read, and goes on", async () => {
    const from = await examples();
    writeFileSync(join(from, "letters", "broken.skn"), "no bundle");
    const { episodes, unreadable } = await exported(from, "sft");
    expect(episodes).toBe(2);
    expect(unreadable).toMatchObject([{ file: join(from, "letters", "broken.skn"), code: "bad_bundle" }]);
  });

  it("takes the steps that a cut recording has, as ungraded", async () => {
    const into = recorder();
    const { file } = await writeExample(into, { ...letters, events: letters.events.slice(0, -1) });
    const path = join(into.folder, file);
    truncateSync(path, statSync(path).size - 100);
    expect((await exported(into.folder, "steps")).left_out.ungraded).toBe(1);
    const { all, rows } = await exported(into.folder, "steps", everything);
    expect(rows).toBeGreaterThan(0);
    expect(all.every(({ status, score }) => status === "ungraded" && score === null)).toBe(true);
  });

  it("leaves nothing half-written behind, and a former file alone, where it fails", async () => {
    const to = join(folder(), "rows.parquet");
    writeFileSync(to, "former");
    const files = await bundleFiles([await examples()]);
    await expect(
      exportBundles({
        files,
        format: "steps",
        to,
        onFile: () => {
          throw new Error("stopped");
        },
      }),
    ).rejects.toThrow("stopped");
    expect(readdirSync(dirname(to))).toEqual([basename(to)]);
    expect(readFileSync(to, "utf8")).toBe("former");
  });

  it("refuses places and endings that it cannot write", async () => {
    const files: string[] = [];
    const at = (to: string): Promise<unknown> => exportBundles({ files, format: "steps", to });
    await expect(at(join(folder(), "rows.csv"))).rejects.toMatchObject({ code: "bad_request", path: "--to" });
    await expect(at(join(folder(), "no", "rows.jsonl"))).rejects.toMatchObject({ code: "bad_request" });
    await expect(at(join(folder(), "no", "rows.parquet"))).rejects.toMatchObject({ code: "bad_request" });
  });

  it("may be nothing: an empty file with its columns", async () => {
    const to = join(folder(), "rows.parquet");
    expect(await exportBundles({ files: [], format: "trl", to })).toMatchObject({ rows: 0 });
    expect(await readParquet(to)).toEqual([]);
  });
});

describe("rows of steps", () => {
  it("hold what was seen before and after, rewards and what the rest of the episode paid", async () => {
    const { all } = await exported(await examples(), "steps", { labels: { replica: "0" } });
    expect(all.map(({ step, reward, return: rest }) => [step, reward, rest])).toEqual([
      [1, 1, 1],
      [2, 0, 0],
      [3, 0, 0],
    ]);
    const [first, second] = all as [Record<string, unknown>, Record<string, unknown>];
    expect(first["observation"]).toMatchObject({ instruction: "Write a letter to Ada." });
    expect(first["milestones"]).toEqual([{ check: "written", reward: 1, partial: false }]);
    expect(second["observation"]).toEqual(first["next_observation"]);
    expect(second["actions"]).toMatchObject([
      { type: "edit_file" },
      { type: "shell", arguments: '{"command":"cat letter.txt"}' },
    ]);
    expect(second["usage"]).toMatchObject({ prompt_tokens: 6, completion_tokens: 1, total_tokens: 7 });
    expect(first["usage"]).toMatchObject({ prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 });
  });

  it("do not hold what was refused or taken back", async () => {
    const { all } = await exported(await examples(), "steps", { labels: { replica: "0" } });
    expect(JSON.stringify(all)).not.toContain("shel\\");
    expect(all[0]).toMatchObject({ completion_ids: [10, 11], logprobs: [-0.5, -0.25] });
  });

  it("of a branch begin with what its parent saw, and add up with what it was paid", async () => {
    const { all } = await exported(await examples(), "steps", { labels: { replica: "1" } });
    expect(all.map(({ step, return: rest, episode_return: sum }) => [step, rest, sum])).toEqual([
      [2, 2, 3],
      [3, 0, 3],
    ]);
    expect(all[0]?.["observation"]).toMatchObject({ results: [{ type: "write_file" }] });
    expect(all[0]).toMatchObject({ parent_step: 1 });
  });
});

describe("attempts for trainers", () => {
  it("are one prompt and one completion, with what the environment said masked", async () => {
    const { all } = await exported(await examples(), "trl", { labels: { replica: "0" } });
    expect(all).toMatchObject([
      {
        prompt_ids: [1, 2, 3],
        completion_ids: [10, 11, 20, 12, 21, 22, 13],
        env_mask: [1, 1, 0, 1, 0, 0, 1],
        logprobs: [-0.5, -0.25, 0, -1, 0, 0, -0.125],
        reward: 0.75,
        milestone_reward: 1,
        segments: 1,
      },
    ]);
  });

  it("are several where the model's context was cut", async () => {
    const { all } = await exported(await examples(), "trl", { labels: { replica: "1" } });
    expect(all).toMatchObject([
      { segment: 0, segments: 2, prompt_ids: [1, 2, 3], completion_ids: [30, 31], env_mask: [1, 1] },
      { segment: 1, segments: 2, prompt_ids: [1, 40], completion_ids: [41], logprobs: null },
    ]);
    const [first, second] = all as [Record<string, unknown[]>, Record<string, unknown[]>];
    expect(second["prompt"]).toHaveLength((first["prompt"]?.length ?? 0) + 2);
  });

  it("have no reward where the episode was not graded: never 0", async () => {
    const filter = { ...everything, labels: { replica: "2" } };
    const from = await examples();
    expect((await exported(from, "trl", filter)).all).toMatchObject([{ reward: null, completion_ids: null }]);
    expect((await exported(from, "verl", filter)).all).toMatchObject([{ reward_score: null }]);
  });

  it("for verl have its columns, replicas under one uid, and evaluation marked as test", async () => {
    const { all } = await exported(await examples(), "verl", everything);
    const told = all as { uid: string; data_source: string; extra_info: Record<string, unknown> }[];
    expect(told.map(({ extra_info: info }) => info["index"])).toEqual(all.map((_, index) => index));
    const test = told.filter(({ extra_info: info }) => info["split"] === "test");
    expect(test).toMatchObject([{ data_source: "shinken-gym/suite/exam" }]);
    expect(told.filter(({ uid }) => uid === "g1")).toHaveLength(4);
    expect(all[0]).toMatchObject({ reward_model: { style: "rule" } });
  });
});

describe("chats", () => {
  it("hold what the model said, calls of tools in OpenAI's shape, and their results", async () => {
    const { all } = await exported(await examples(), "sft", { labels: { replica: "0" } });
    const [row] = all as [{ messages: Record<string, unknown>[]; tools: string; source: string }];
    expect(row.source).toBe("derived");
    expect(row.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
      "tool",
      "tool",
      "assistant",
    ]);
    expect(row.messages[1]).toEqual({
      role: "assistant",
      content: "I write it down.",
      tool_calls: [
        {
          id: "call_1_0",
          type: "function",
          function: {
            name: "write_file",
            arguments: JSON.stringify({ path: "letter.txt", content: "Dear Ada,\nhow are you?\n" }),
          },
        },
      ],
    });
    expect(row.messages[5]).toMatchObject({ role: "tool", tool_call_id: "call_2_1" });
    const tools = JSON.parse(row.tools) as { function: { name: string } }[];
    expect(tools.map(({ function: { name } }) => name)).toContain("edit_file");
  });

  it("offer only the tools that the agent had", async () => {
    const into = recorder();
    await writeExample(into, { ...letters, session: { ...letters.session, granted: ["exec"] } });
    const { all } = await exported(into.folder, "sft");
    expect(toolsIn(all[0])).toEqual(["exec", "wait", "done", "fail"]);
  });

  it("of a branch begin with its parent's steps, and there is none where the parent is gone", async () => {
    const from = await examples();
    const { all } = await exported(from, "sft", { labels: { replica: "1" } });
    expect((all[0]?.["messages"] as { role: string }[]).map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
      "tool",
      "assistant",
    ]);
    const parent =
      [...(await readIndex(from)).values()].find(({ labels }) => labels?.["replica"] === 0)?.file ?? "";
    const alone = folder();
    const files = (await bundleFiles([from])).filter((file) => !file.endsWith(basename(parent)));
    mkdirSync(join(alone, "letters"));
    for (const file of files) copyFileSync(file, join(alone, "letters", basename(file)));
    expect((await exported(alone, "sft")).left_out.no_parent).toBe(1);
    expect(existsSync(join(alone, parent))).toBe(false);
  });

  it("take only the words of a model whose interface puts calls among them", async () => {
    const into = recorder();
    const output = {
      role: "assistant",
      content: [
        { type: "text", text: "I look." },
        { type: "tool_use", name: "sh" },
      ],
    };
    const decision = { input: [{ role: "user", content: "Go." }], output };
    await writeExample(into, {
      task: "letters",
      events: [
        start("Go."),
        ...stepEvents(1, { actions: [{ type: "shell", command: "ls" }], results: [], decision }),
        verdictEvent(1, { status: "graded", score: 1, passed: true }),
      ],
    });
    const { all } = await exported(into.folder, "sft");
    expect(all[0]).toMatchObject({
      source: "derived",
      messages: [{ role: "user" }, { content: "I look.", tool_calls: [{ function: { name: "shell" } }] }],
    });
  });

  it("are what the model itself read and wrote, where decisions tell it", async () => {
    const into = recorder();
    const system = { role: "system", content: [{ type: "text", text: "You play." }, { type: "image_url" }] };
    const call = { id: "c1", type: "function", function: { name: "sh", arguments: { line: "ls" } } };
    const first = { role: "assistant", content: null, tool_calls: [call] };
    const input = [system, { role: "user", content: "Begin." }];
    const result = { role: "tool", tool_call_id: "c1", content: "a b" };
    const step = (number: number, decision: Record<string, unknown>) =>
      stepEvents(number, { actions: [{ type: "shell", command: "ls" }], results: [], decision });
    await writeExample(into, {
      task: "letters",
      events: [
        start("Begin."),
        ...step(1, { input, output: first }),
        ...step(2, { input: [...input, first, result], output: "That is all." }),
        verdictEvent(2, { status: "graded", score: 1, passed: true }),
      ],
    });
    const { all } = await exported(into.folder, "sft");
    expect(all[0]).toMatchObject({
      source: "recorded",
      messages: [
        { role: "system", content: "You play.[image_url]" },
        { role: "user", content: "Begin." },
        {
          role: "assistant",
          content: "",
          tool_calls: [{ id: "c1", function: { name: "sh", arguments: '{"line":"ls"}' } }],
        },
        { role: "tool", tool_call_id: "c1", content: "a b" },
        { role: "assistant", content: "That is all." },
      ],
    });
  });
});
