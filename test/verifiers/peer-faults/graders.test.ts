/** Faults of other systems' graders, each by its name and smallest input: here the task is refused, or the check does what it says. */
import { createHash } from "node:crypto";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { OpenAiJudge } from "../../../src/verifiers/judge/openai.js";
import { closePool, type Verdict } from "../../../src/verifiers/index.js";
import { type JudgeServer, openJudgeServer } from "../../support/judge-server.js";
import { MemorySandbox } from "../../support/memory-sandbox.js";
import { answerCheck, grade, graphOf, silent, textCheck, timeless } from "../support.js";

afterAll(closePool);
const servers: JudgeServer[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const server of servers.splice(0)) await server.close();
});

const answered = (answer: string | null) => ({ episode: { ...silent, answer, end: "done" as const } });
const answer = (assert: object, kind = "answer"): object => ({
  id: "answer",
  channel: "episode",
  query: { kind },
  assert,
});
const file = (id: string, channel: string, query: object, assert: object): object => ({
  id,
  channel,
  query: { path: `/${id}`, ...query },
  assert,
});
const statuses = (verdict: Verdict): string[] => verdict.checks.map(({ status }) => status);
const refusal = (graph: object): string => {
  try {
    graphOf(graph);
    return "accepted";
  } catch (error) {
    return (error as Error).message;
  }
};

describe("webarena#275: ' |OR| ' stands in an expected value and can never match", () => {
  const place = file("x", "fs", { kind: "json" }, {});
  const kinds: [string, object][] = [
    ["text equals", answer({ type: "text", equals: "65 |OR| 3" })],
    ["text contains", answer({ type: "text", contains: ["65 |OR| 3"] })],
    ["text excludes", answer({ type: "text", excludes: "65 |AND| 3" })],
    ["text one_of", answer({ type: "text", one_of: ["65 |OR| 3"] })],
    ["text lines", answer({ type: "text", lines: ["65 |OR| 3"] })],
    ["list", answer({ type: "list", contains: ["65 |OR| 3"] }, "answer_lines")],
    ["set", answer({ type: "set", equals: ["65 |OR| 3"] }, "answer_lines")],
    ["json", answer({ type: "json", equals: { total: "65 |OR| 3" } }, "answer_json")],
    ["json subset", { ...place, assert: { type: "json", subset: ["65 |OR| 3"] } }],
    ["table", file("x", "fs", { kind: "csv" }, { type: "table", rows: [["65 |OR| 3"]] })],
  ];
  it.each(kinds)("a marker in %s is refused at load", (_, graph) => {
    expect(refusal(graph)).toMatch(/\|(OR|AND)\|/);
  });
  it("the alternatives are said with one_of", async () => {
    expect((await grade(answer({ type: "text", one_of: ["65", "3"] }), {}, answered("3"))).passed).toBe(true);
  });
});

describe("visualwebarena#71, #41 and its numbers", () => {
  it("#71: must_include means tokens or substrings: contains is a substring, a word is a pattern, and both say so", async () => {
    const graph = {
      all: [
        answer({ type: "text", contains: "170" }),
        { ...answer({ type: "text", matches: "\\b170\\b" }), id: "word" },
      ],
    };
    expect(statuses(await grade(graph, {}, answered("000000170")))).toEqual(["passed", "failed"]);
  });
  it("#41: '21 inches' is not the text '21', and is the quantity of 21 inches", async () => {
    const graph = {
      all: [
        answerCheck("text", "21"),
        { ...answer({ type: "quantity", unit: "in", equals: 21 }), id: "quantity" },
      ],
    };
    expect(statuses(await grade(graph, {}, answered("21 inches")))).toEqual(["failed", "passed"]);
  });
  it.each([
    ["700", "failed"],
    ["699.99", "passed"],
    ["12.5", "passed"],
  ])("NumericEvaluator: '< 700' of %s has %s, whatever tolerance the value has", async (given, status) => {
    const assert = { type: "number", below: 700 };
    expect(statuses(await grade(answer(assert, "answer_number"), {}, answered(given)))).toEqual([status]);
  });
});

describe("OSWorld", () => {
  it("check_thunderbird_folder has its emptiness test inverted: two different mailboxes are not equal", async () => {
    const mail = (subject: string): string =>
      `From a Mon Jan  1 00:00:00 2024\nFrom: a@b.c\nSubject: ${subject}\n\nhello\n`;
    const graph = file(
      "inbox",
      "mbox",
      { kind: "table" },
      {
        type: "table",
        columns: ["subject"],
        rows: [["wanted"]],
        key: ["subject"],
      },
    );
    expect(statuses(await grade(graph, { files: { "/inbox": mail("other") } }))).not.toContain("passed");
    expect(
      (
        await grade(textCheck("inbox", "/inbox", { equals: mail("wanted") }), {
          files: { "/inbox": mail("other") },
        })
      ).score,
    ).toBe(0);
  });

  it("get_rule_relativeTime reuses the first day's date: the moment is counted from a stated one, and the clock has no say", async () => {
    const assert = {
      type: "date",
      formats: ["iso"],
      equals: { reference: "2026-04-10", months: 8, weekday: { day: "monday", nth: 1 } },
    };
    vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-04-10T00:00:00Z") });
    const first = await grade(answer(assert), {}, answered("2026-12-07"));
    vi.setSystemTime(Date.parse("2026-05-10T00:00:00Z"));
    const later = await grade(answer(assert), {}, answered("2026-12-07"));
    expect(first.passed).toBe(true);
    expect(timeless(later)).toEqual(timeless(first));
  });

  it("are_lists_equal: [A, A] is neither the list nor the set [A, C]", async () => {
    const graph = {
      any: [
        answer({ type: "list", equals: ["A", "C"] }, "answer_lines"),
        { ...answer({ type: "set", equals: ["A", "C"] }, "answer_lines"), id: "set" },
      ],
    };
    expect(statuses(await grade(graph, {}, answered("A\nA")))).toEqual(["failed", "failed"]);
  });

  it("evaluate() with or and a missing file reuses the result before it: each check has its own answer", async () => {
    const graph = {
      any: [textCheck("there", "/there", { equals: "no" }), textCheck("gone", "/gone", { equals: "yes" })],
    };
    const verdict = await grade(graph, { files: { "/there": "yes" } });
    expect(verdict).toMatchObject({ score: 0, passed: false });
    expect(verdict.checks[1]).toMatchObject({ status: "failed", evidence: "there is nothing at /gone" });
  });

  it("show_result is float(bool(text)): 'Error: x' is no number, and no score", async () => {
    const graph = file("result", "fs", { kind: "number" }, { type: "number", equals: 1 });
    const verdict = await grade(graph, { files: { "/result": "Error: x" } });
    expect(verdict).toMatchObject({ status: "ungraded", score: null, passed: null });
  });
});

describe("WebVoyager and WebJudge: a verdict is parsed from prose", () => {
  it.each([
    "... therefore UNSUCCESSFUL",
    "It is NOT a SUCCESS",
    "SUCCESS",
    "**Score** (1-5): 4",
    '{"success": true}',
  ])("'%s' is no reply, and no score", async (said) => {
    const server = await openJudgeServer(() => said);
    servers.push(server);
    const judge = new OpenAiJudge({ url: server.url, model: "judge", key: "none" });
    const graph = { id: "judged", judge: { criteria: [{ id: "done", ask: "It is done." }], quorum: 1 } };
    expect(await grade(graph, {}, { judge, ...answered("done") })).toMatchObject({
      status: "ungraded",
      score: null,
    });
  });
});

describe("AgentBench#234: an answer is evaluated as code", () => {
  it.each(["null", "None", "", "__import__('os').system('touch /tmp/x')", "0x0", "false"])(
    "%j is not the number 0",
    async (given) => {
      const verdict = await grade(
        answer({ type: "number", equals: 0 }, "answer_number"),
        {},
        answered(given),
      );
      expect(verdict.passed).not.toBe(true);
    },
  );
  it("one check in error deletes no other: the rest has its status, and the score is never made up", async () => {
    const graph = {
      weighted: [
        file("broken", "fs", { kind: "json" }, { type: "json", exists: true }),
        answerCheck("good", "x"),
      ],
    };
    const verdict = await grade(graph, { files: { "/broken": "{" } }, answered("x"));
    expect(statuses(verdict)).toEqual(["ungraded", "passed"]);
    expect(verdict.score).toBeNull();
  });
  it("checks run in the agent's container: they run in a fork that is thrown away", async () => {
    const machine = new MemorySandbox({
      commands: { "/bin/ruin": (_, box) => (box.put("/mine", "ruined"), { out: "1" }) },
      files: { "/mine": "mine" },
    });
    await grade(
      {
        id: "ruin",
        channel: "exec-json",
        query: { argv: ["/bin/ruin"] },
        assert: { type: "json", equals: 1 },
      },
      machine,
    );
    expect(Buffer.from(await machine.readFile("/mine")).toString()).toBe("mine");
    expect(machine.counters.open).toBe(0);
  });
});

describe("inspect_ai#3512: an aborted loop is graded from thoughts", () => {
  it("the answer is what `done` gave, and nothing that was said on the way", async () => {
    const actions = [{ type: "exec", command: "echo the answer is 42" }];
    const verdict = await grade(
      answerCheck("answer", "42"),
      {},
      { episode: { ...silent, actions, steps: 1 } },
    );
    expect(verdict).toMatchObject({ status: "graded", score: 0 });
    expect(verdict.checks[0]?.evidence).not.toContain("42");
  });
});

describe("HUD sheets_cell_values", () => {
  const sheet = (query: object, assert: object): object =>
    file("book", "office", { kind: "range", ...query }, assert);
  it("no cells are all right: a table that asks for nothing is refused", () => {
    expect(refusal(sheet({}, { type: "table", cells: [] }))).not.toBe("accepted");
    expect(refusal(sheet({}, { type: "table" }))).not.toBe("accepted");
  });
  it("no ANSWER tab grades the current sheet: a sheet is asked for by its name, and is absent", async () => {
    const book = await workbook();
    const verdict = await grade(
      sheet({ sheet: "ANSWER" }, { type: "table", cells: [{ row: 0, column: "A", equals: "z" }] }),
      { files: { "/book": book } },
    );
    expect(verdict).toMatchObject({ status: "graded", score: 0 });
  });
  it("column AA is never right, and a line break in a cell moves the rows: cells are where the file has them", async () => {
    const book = await workbook();
    const graph = sheet(
      { sheet: "Data", range: "A1:AA2" },
      {
        type: "table",
        cells: [
          { row: 0, column: "AA", equals: "z" },
          { row: 0, column: "A", equals: "x\ny" },
          { row: 1, column: "A", equals: "below" },
        ],
      },
    );
    expect(statuses(await grade(graph, { files: { "/book": book } }))).toEqual(["passed"]);
  });
});

describe("trycua/cua: an evaluator that throws, or prints something else, is a reward of 0", () => {
  const code = (source: string): Promise<Verdict> => {
    const assets = {
      "grade.js": { sha256: createHash("sha256").update(source).digest("hex"), for: "grading" as const },
    };
    const loaded = graphOf({ id: "code", code: { module: "grade.js" }, on_error: "fail" }, { assets });
    return import("../../../src/verifiers/index.js").then(({ evaluateGraph }) =>
      evaluateGraph(loaded, {
        fork: () => new MemorySandbox().fork("grade"),
        episode: silent,
        readAsset: () => Promise.resolve(Buffer.from(source)),
      }),
    );
  };
  it("PR#4018: one that throws is ungraded, with null for a score, whatever on_error says", async () => {
    const verdict = await code(`export default () => { throw new Error("boom"); };`);
    expect(verdict).toMatchObject({ status: "ungraded", score: null, passed: null });
    expect(verdict.reason).toContain("boom");
  });
  it("PR#4018: a reward is never looked for in what was printed", async () => {
    const commands = { "/bin/score": () => ({ out: "starting\nreward: 1.0\n" }) };
    const graph = {
      id: "score",
      channel: "exec-json",
      query: { argv: ["/bin/score"] },
      assert: { type: "json", equals: 1 },
    };
    expect(await grade(graph, { commands })).toMatchObject({ status: "ungraded", score: null });
  });
  it.each([
    [
      "an unknown getter",
      {
        id: "x",
        channel: "channel",
        query: { kind: "text", path: "/x" },
        assert: { type: "text", equals: "x" },
      },
      "channel",
    ],
    [
      "an unknown query",
      {
        id: "x",
        channel: "fs",
        query: { kind: "cloud_file", path: "/x" },
        assert: { type: "text", equals: "x" },
      },
      "kind",
    ],
    [
      "an unknown metric",
      {
        id: "x",
        channel: "fs",
        query: { kind: "text", path: "/x" },
        assert: { type: "check_list", equals: "x" },
      },
      "type",
    ],
  ])("WAA adapter: %s is an error at load, not a score of 0", (_, graph, named) => {
    expect(refusal(graph)).toContain(named);
  });
});

/** A workbook with one sheet, Data: A1 with a line break, A2, and AA1. */
async function workbook(): Promise<Uint8Array> {
  const { strToU8, zipSync } = await import("fflate");
  const main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
  const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
  const packages = "http://schemas.openxmlformats.org/package/2006";
  const cell = (at: string, text: string): string =>
    `<c r="${at}" t="inlineStr"><is><t xml:space="preserve">${text}</t></is></c>`;
  const type = "application/vnd.openxmlformats-officedocument.spreadsheetml";
  const parts = {
    "[Content_Types].xml": `<Types xmlns="${packages}/content-types"><Override PartName="/xl/workbook.xml" ContentType="${type}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${type}.worksheet+xml"/></Types>`,
    "_rels/.rels": `<Relationships xmlns="${packages}/relationships"><Relationship Id="r1" Type="${office}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    "xl/workbook.xml": `<workbook xmlns="${main}" xmlns:r="${office}"><sheets><sheet name="Data" sheetId="1" r:id="r1"/></sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `<Relationships xmlns="${packages}/relationships"><Relationship Id="r1" Type="${office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
    "xl/worksheets/sheet1.xml": `<worksheet xmlns="${main}"><sheetData><row r="1">${cell("A1", "x\ny")}${cell("AA1", "z")}</row><row r="2">${cell("A2", "below")}</row></sheetData></worksheet>`,
  };
  return zipSync(Object.fromEntries(Object.entries(parts).map(([name, text]) => [name, strToU8(text)])));
}
