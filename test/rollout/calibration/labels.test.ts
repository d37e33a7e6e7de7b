import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseDocument } from "../../../src/env/task/index.js";
import { ShinkenError } from "../../../src/errors/index.js";
import {
  labelsJsonSchema,
  loadCorpus,
  loadRecord,
  parseRecord,
} from "../../../src/rollout/calibration/index.js";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "shinken-labels-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function put(name: string, value: unknown): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, typeof value === "string" ? value : JSON.stringify(value));
  return file;
}

async function refusal(work: Promise<unknown>): Promise<ShinkenError> {
  const error: unknown = await work.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(ShinkenError);
  return error as ShinkenError;
}

const state = { id: "one", label: "right", note: "It is done." };
const file = { format: 1, task: "good", by: "somebody", states: [state] };

describe("a label file", () => {
  it("gives each state the task, the labeller and the name that it is known by", async () => {
    const own = { ...state, id: "two", task: "other", by: "someone else", agreed: true, seed: 3 };
    const path = await put("whole.json", { ...file, tasks: "../tasks", states: [state, own] });
    const { states, tasks } = await loadCorpus(path);
    expect(tasks).toBe(join(folder, "..", "tasks"));
    expect(states).toMatchObject([
      { id: "good/one", task: "good", by: "somebody", from: "solved", steps: [], agreed: false, file: path },
      { id: "other/two", task: "other", by: "someone else", seed: 3, agreed: true },
    ]);
  });

  it("keeps every parameter that a state names, so that none is passed over", async () => {
    const params = JSON.parse('{"__proto__":1}') as object;
    const { states } = await loadCorpus(await put("proto.json", { ...file, states: [{ ...state, params }] }));
    expect(Object.keys(states[0]?.params ?? {})).toEqual(["__proto__"]);
  });

  it.each([
    [{ format: 2 }, "format", undefined],
    [{ states: [] }, "states", undefined],
    [{ states: undefined, statess: [] }, "statess", 'did you mean "states"?'],
    [{ by: undefined }, "states[0].by", undefined],
    [{ task: undefined }, "states[0].task", undefined],
    [{ states: [{ ...state, id: "No Spaces" }] }, "states[0].id", undefined],
    [{ states: [{ ...state, label: "wright" }] }, "states[0].label", 'did you mean "right"?'],
    [{ states: [{ ...state, note: " " }] }, "states[0].note", undefined],
    [
      { states: [{ ...state, label: undefined, lable: "right" }] },
      "states[0].lable",
      'did you mean "label"?',
    ],
    [{ states: [{ ...state, from: "oracle" }] }, "states[0].from", undefined],
    [{ states: [{ ...state, seed: 1, params: {} }] }, "states[0].seed", undefined],
    [{ states: [{ ...state, actions: [{ type: "done" }] }] }, "states[0].actions", undefined],
    [{ states: [{ ...state, label: "nearly", agreed: true }] }, "states[0].agreed", undefined],
    [{ states: [{ ...state, steps: [{ exec: { argv: [] } }] }] }, "states[0].steps[0].exec.argv", undefined],
    [{ states: [{ ...state, episode: { answr: "x" } }] }, "states[0].episode.answr", undefined],
    [{ states: [{ ...state, judge: { passed: 1 } }] }, "states[0].judge.passed", undefined],
    [{ states: [state, state] }, "states[1].id", undefined],
  ])("with %j is refused, and says where", async (change, path, suggestion) => {
    const name = await put("broken.json", { ...file, ...change });
    const error = await refusal(loadCorpus(name));
    expect(error).toMatchObject({ code: "bad_request", path });
    expect(error.message).toContain(name);
    if (suggestion !== undefined) expect(error.suggestion).toBe(suggestion);
  });

  it("that is no YAML, or not there, is refused with its name", async () => {
    const name = await put("torn.yaml", "format: 1\nstates: [");
    expect((await refusal(loadCorpus(name))).message).toContain(name);
    const gone = await refusal(loadCorpus(join(folder, "gone.yaml")));
    expect(gone).toMatchObject({ code: "bad_request", path: join(folder, "gone.yaml") });
    expect(gone.suggestion).toContain("label file");
  });

  it("in a folder must not name a state that another file names, nor other tasks", async () => {
    const inner = await mkdtemp(join(folder, "set-"));
    const write = (name: string, value: unknown) => writeFile(join(inner, name), JSON.stringify(value));
    await write("a.json", file);
    await write("b.json", { ...file, states: [{ ...state, id: "two" }] });
    await write("readme.md", "no labels");
    expect((await loadCorpus(inner)).states.map(({ id }) => id)).toEqual(["good/one", "good/two"]);
    await write("c.json", file);
    expect((await refusal(loadCorpus(inner))).message).toContain("a.json");
    await write("a.json", { ...file, tasks: "x" });
    await write("c.json", { ...file, tasks: "y", states: [{ ...state, id: "three" }] });
    expect(await refusal(loadCorpus(inner))).toMatchObject({ path: "tasks" });
  });

  it("satisfies the exported JSON Schema exactly if it is accepted", async () => {
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(labelsJsonSchema());
    const demo = new URL("../../../tasks/demo-labels/double-charge.yaml", import.meta.url);
    expect(validate(parseDocument(await readFile(demo, "utf8"), "demo"))).toBe(true);
    expect(validate(file)).toBe(true);
    expect(validate({ ...file, states: [{ ...state, label: "maybe" }] })).toBe(false);
    expect(validate({ ...file, states: [{ ...state, lable: "right" }] })).toBe(false);
  });
});

describe("a file of recorded verdicts", () => {
  it("holds verdicts and judgements in a word or in full, one a line", () => {
    const lines = [
      { id: "a", label: "right", verdict: "passed", judge: "failed" },
      { id: "b", judge: { passed: null, rationale: "no page was shown" } },
      {
        id: "c",
        verdict: { status: "graded", score: 0.5, passed: false, checks: [{ id: "x", status: "failed" }] },
      },
    ];
    const text = `${lines.map((line) => JSON.stringify(line)).join("\n")}\n\n`;
    expect(parseRecord(text, "r.jsonl")).toMatchObject([
      { id: "a", verdict: { status: "graded", passed: true }, judge: { passed: false } },
      { id: "b", judge: { status: "ungraded", passed: null, reason: "no page was shown" } },
      { id: "c", verdict: { score: 0.5, checks: [{ id: "x", score: null, weight: 1, evidence: "" }] } },
    ]);
  });

  it.each([
    ["", "r.jsonl"],
    ["{", "r.jsonl:1"],
    ['{"id":"a","verdict":"passed"}\n{"id":"a","verdict":"failed"}', "r.jsonl:2.id"],
    ['{"id":"a","label":"right"}', "r.jsonl:1.verdict"],
    ['{"id":"a","verdict":"pased"}', "r.jsonl:1.verdict"],
    ['{"id":"a","verdict":"passed","labl":"right"}', "r.jsonl:1.labl"],
    ['{"id":"a","verdict":{"status":"graded","passed":null}}', "r.jsonl:1.verdict.passed"],
    ['{"id":"a","verdict":{"status":"graded","passed":true,"score":2}}', "r.jsonl:1.verdict.score"],
  ])("%j is refused at %s", (text, path) => {
    expect(() => parseRecord(text, "r.jsonl")).toThrow(
      expect.objectContaining({ code: "bad_request", path }),
    );
  });

  it("that is not there is refused with its name", async () => {
    const name = join(folder, "gone.jsonl");
    expect(await refusal(loadRecord(name))).toMatchObject({ code: "bad_request", path: name });
  });
});
