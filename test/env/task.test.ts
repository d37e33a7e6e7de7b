import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { parseAction } from "../../src/env/aci/index.js";
import {
  loadTask,
  loadTaskSet,
  makeTask,
  parseDocument,
  taskJsonSchema,
  taskSchema,
  writeStepBytes,
} from "../../src/env/task/index.js";
import { ShinkenError } from "../../src/errors/index.js";

const here = dirname(fileURLToPath(import.meta.url));
const read = (name: string): string => readFileSync(join(here, name), "utf8");
type Document = Record<string, unknown>;
const good = (): Document => parseDocument(read("task-good.yaml"), "task-good.yaml") as Document;

interface Broken {
  name: string;
  set?: Record<string, unknown>;
  unset?: string[];
  path: string;
  says?: string;
  suggests?: string;
}
const broken = parseDocument(read("task-broken.yaml"), "task-broken.yaml") as Broken[];

/** Places are separated by dots, except in `assets` and where a key of the document holds dots itself. */
function change(document: Document, place: string, value: unknown): void {
  const parts = place.split(".");
  const last = parts.pop() ?? "";
  let target: Document = document;
  for (const part of parts) target = target[part] as Document;
  if (value === undefined) Reflect.deleteProperty(target, last);
  else target[last] = value;
}

function breakTask({ set = {}, unset = [] }: Broken): Document {
  const document = good();
  for (const [place, value] of Object.entries(set)) change(document, place, value);
  for (const place of unset) change(document, place, undefined);
  return document;
}

function refusal(action: () => unknown): ShinkenError {
  try {
    action();
  } catch (error) {
    if (error instanceof ShinkenError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("a broken task", () => {
  it.each(broken.filter(({ path }) => path !== "ok"))("with $name is refused by its place", (one) => {
    const error = refusal(() => makeTask(breakTask(one)));
    expect({ code: error.code, path: error.path }).toEqual({ code: "bad_task", path: one.path });
    expect(error.message).toContain(one.path);
    if (one.says !== undefined) expect(error.message).toContain(one.says);
    if (one.suggests !== undefined) expect(error.suggestion).toContain(one.suggests);
  });

  it.each(broken.filter(({ path }) => path === "ok"))("is not one that has $name", (one) => {
    expect(makeTask(breakTask(one)).id).toBe("demo/good");
  });

  it("has a refusal of its own: no two cases say the same", () => {
    const messages = broken
      .filter(({ path }) => path !== "ok")
      .map((one) => refusal(() => makeTask(breakTask(one))).message);
    expect(messages.length).toBeGreaterThanOrEqual(100);
    expect(messages.filter((message, index) => messages.indexOf(message) !== index)).toEqual([]);
  });
});

describe("the text of a task", () => {
  it.each([
    ["a key twice", "id: a\nid: b\n", /:2: .*unique/i],
    ["a key twice deep inside", "a:\n  - { b: 1, b: 2 }\n", /:2: .*unique/i],
    ["two documents", "a: 1\n---\nb: 2\n", /multiple documents/i],
    ["a tag of another schema", "a: !!js/function 'x'\n", /tag/i],
    ["a bracket that is never closed", "a: [1\n", /:\d+: /],
    ["a tab as indentation", "a:\n\tb: 1\n", /tab/i],
    [
      "a million nodes by alias",
      `a: &a [x,x,x,x,x,x,x,x,x,x]\n${"bcdefgh"
        .split("")
        .map((key, index) => `${key}: &${key} [${Array(10).fill(`*${"abcdefgh"[index]}`).join(",")}]`)
        .join("\n")}\n`,
      /alias/i,
    ],
    ["an unknown alias", "a: *nobody\n", /alias/i],
  ])("is refused with %s", (_, text, message) => {
    const error = refusal(() => parseDocument(text, "task.yaml"));
    expect(error.code).toBe("bad_task");
    expect(error.message).toMatch(message);
  });

  it("is YAML 1.2: yes, no and on are words, an octal needs its letter", () => {
    expect(parseDocument("[yes, no, on, 0644, 0o644, 12:30, ~, true]", "x")).toEqual([
      "yes",
      "no",
      "on",
      644,
      0o644,
      "12:30",
      null,
      true,
    ]);
  });

  it("may be JSON", () => {
    expect(makeTask(parseDocument(JSON.stringify(good()), "task.json")).digest).toBe(makeTask(good()).digest);
  });
});

describe("a variant", () => {
  const task = makeTask(good());

  it("is the same for the same seed and differs for some other", () => {
    expect(task.variant({ seed: 7 }).digest).toBe(task.variant({ seed: 7 }).digest);
    const digests = new Set(Array.from({ length: 20 }, (_, seed) => task.variant({ seed }).digest));
    expect(digests.size).toBeGreaterThan(5);
  });

  it("has whole typed values where references stood", () => {
    const { task: filled } = task.variant({ params: { count: 12, person: { name: "Bob", city: "Oslo" } } });
    expect(filled.instruction).toBe("Write the number 12 and the city Oslo to /home/agent/out.txt.");
    expect(filled.setup[0]).toMatchObject({ write: { lines: ["Bob", "12"] } });
    expect(filled.verify.graph).toMatchObject({
      weighted: [{ assert: { contains: "Oslo" } }, {}, { query: { bind: [12] } }, {}],
    });
    expect(filled.oracle[0]).toMatchObject({ stdin: "Oslo" });
  });

  it("shares the verifier's version with its siblings, and the golden where setup is the same", () => {
    const one = task.variant({ params: { count: 1 } });
    const two = task.variant({ params: { count: 2 } });
    expect(one.graph.verifierVersion).toBe(two.graph.verifierVersion);
    expect(one.setupDigest).not.toBe(two.setupDigest);
    const free = good();
    (free.setup as Document[])[0] = { write: { path: "/x", text: "x" } };
    const plain = makeTask(free);
    expect(plain.variant({ params: { count: 1 } }).setupDigest).toBe(
      plain.variant({ params: { count: 2 } }).setupDigest,
    );
  });

  it.each([
    [{ cuont: 1 }, "params.cuont", "count"],
    [{ count: 100 }, "params.count", undefined],
    [{ count: 1.5 }, "params.count", undefined],
    [{ count: "1" }, "params.count", undefined],
    [{ person: { name: "Eve", city: "Rome" } }, "params.person", undefined],
  ])("refuses %j", (params, path, suggestion) => {
    const error = refusal(() => task.variant({ params }));
    expect([error.code, error.path]).toEqual(["bad_request", path]);
    if (suggestion !== undefined) expect(error.suggestion).toContain(suggestion);
  });

  it("fills references inside free JSON, whatever the fields there are called", () => {
    const document = good();
    (document.setup as Document[])[0] = {
      write: { path: "/x", json: { id: { param: "count" }, sql: { param: "person.city" } } },
    };
    const filled = makeTask(document).variant({
      params: { count: 3, person: { name: "Ada", city: "Rome" } },
    });
    expect(filled.task.setup[0]).toMatchObject({ write: { json: { id: 3, sql: "Rome" } } });
  });

  it("refuses a parameter as SQL also in the query of an expected value", () => {
    const document = good();
    const query = { kind: "number", path: "/y.db", sql: { param: "person.city" } };
    const graph = (document.verify as { graph: { weighted: Document[] } }).graph;
    (graph.weighted[2] as Document).assert = {
      type: "number",
      equals: { from: { channel: "sqlite", query } },
    };
    expect(refusal(() => makeTask(document)).path).toBe(
      "verify.graph.weighted[2].assert.equals.from.query.sql",
    );
  });

  it("keeps a literal object that looks like a reference", () => {
    const document = good();
    const graph = (document.verify as { graph: { weighted: Document[] } }).graph;
    (graph.weighted[3] as Document).assert = { type: "json", equals: { literal: { param: "count" } } };
    const filled = makeTask(document).variant().task.verify.graph as unknown as { weighted: Document[] };
    expect(filled.weighted[3]).toMatchObject({ assert: { equals: { literal: { param: "count" } } } });
  });

  it("checks each oracle action by the schema it is given", () => {
    const checkAction = (action: unknown): void => {
      if ((action as { type: string }).type === "done")
        throw new ShinkenError("bad_action", "no done today", { path: "type" });
    };
    const error = refusal(() => makeTask(good(), { checkAction }));
    expect([error.code, error.path]).toEqual(["bad_task", "oracle[1].type"]);
  });

  it("says once where an action of the oracle is misspelt", () => {
    const document = { ...good(), oracle: [{ type: "exec", comand: "true" }] };
    const checkAction = (action: unknown): void => void parseAction(action);
    const error = refusal(() => makeTask(document, { checkAction }));
    expect(error.message).toBe("oracle[0].comand: there is no field of this name");
    expect(error.suggestion).toBe('did you mean "command"?');
  });

  it("is proved against the channels of its image", () => {
    const error = refusal(() =>
      makeTask(good(), { channelsOf: (image) => (image === "shell" ? ["fs"] : []) }),
    );
    expect(error.path).toBe("verify.graph.weighted[2].channel");
  });
});

describe("tasks on disk", () => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "shinken-task-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const put = (name: string, document: Document, file = "task.yaml"): string => {
    const place = join(folder, name);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, file), file.endsWith(".json") ? JSON.stringify(document) : stringify(document));
    return place;
  };

  it("are found in folders, sorted by id, with one digest that ignores where they lie", async () => {
    put("z", { ...good(), id: "demo/a" });
    put("group/b", { ...good(), id: "demo/b" }, "task.json");
    const set = await loadTaskSet(folder);
    expect(set.tasks.map(({ id }) => id)).toEqual(["demo/a", "demo/b"]);
    rmSync(join(folder, "z"), { recursive: true });
    put("elsewhere", { ...good(), id: "demo/a" });
    expect((await loadTaskSet(folder)).digest).toBe(set.digest);
  });

  it("are refused where two share an id, one is broken, or none is there", async () => {
    await expect(loadTaskSet(folder)).rejects.toMatchObject({ code: "bad_task" });
    put("one", good());
    put("two", good());
    await expect(loadTaskSet(folder)).rejects.toMatchObject({ code: "bad_task", path: "id" });
    put("two", { ...good(), id: "demo/two", expect: "refus" });
    const error = await loadTaskSet(folder).catch((reason: unknown) => reason as ShinkenError);
    expect(error).toMatchObject({ path: "expect" });
    expect((error as ShinkenError).message).toContain(join(folder, "two"));
  });

  it("read an asset only with the hash that the task states", async () => {
    const bytes = "a,b\n";
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const document = good();
    (document.assets as Record<string, Document>)["data.csv"] = { sha256, for: "setup" };
    const place = put("one", document);
    const variant = (await loadTask(place)).variant();
    writeFileSync(join(place, "dta.csv"), bytes);
    await expect(variant.readAsset("data.csv")).rejects.toMatchObject({
      code: "asset_mismatch",
      suggestion: "there is dta.csv",
    });
    writeFileSync(join(place, "data.csv"), bytes);
    expect(Buffer.from(await variant.readAsset("data.csv")).toString()).toBe(bytes);
    writeFileSync(join(place, "data.csv"), "altered");
    await expect(variant.readAsset("data.csv")).rejects.toMatchObject({
      code: "asset_mismatch",
      path: "assets.data.csv",
    });
    await expect(variant.readAsset("../task.yaml")).rejects.toMatchObject({ code: "bad_task" });
  });

  it("are refused where there is no file", async () => {
    await expect(loadTask(join(folder, "none"))).rejects.toMatchObject({ code: "bad_task" });
    await expect(loadTask(folder)).rejects.toMatchObject({ code: "bad_task" });
  });
});

describe("a write step", () => {
  const noAsset = () => Promise.reject(new Error("no asset"));
  const bytes = async (spec: object) =>
    Buffer.from(
      await writeStepBytes({ path: "/x", mode: "0644", owner: "agent", ...spec }, noAsset),
    ).toString();
  it("gives the bytes of each kind of content", async () => {
    expect(await bytes({ text: "a" })).toBe("a");
    expect(await bytes({ lines: ["a", "1"] })).toBe("a\n1\n");
    expect(await bytes({ json: { a: [1] } })).toBe('{\n  "a": [\n    1\n  ]\n}\n');
    expect(await bytes({ base64: "aGk=" })).toBe("hi");
  });
  it("writes every key of its JSON, whatever it is called", async () => {
    const json = JSON.parse('{"__proto__":{"a":1}}') as object;
    const [step] = taskSchema.shape.setup.parse([{ write: { path: "/x", json } }]);
    if (step === undefined || !("write" in step)) throw new Error("no write step");
    expect(await bytes(step.write)).toBe('{\n  "__proto__": {\n    "a": 1\n  }\n}\n');
  });
});

describe("the JSON Schema", () => {
  const schema = taskJsonSchema() as {
    $defs: Record<string, unknown>;
    properties: Record<string, unknown>;
    required: string[];
  };
  it("names the fields and those that are needed", () => {
    expect(schema.required).toEqual(
      expect.arrayContaining(["id", "version", "instruction", "verify", "oracle"]),
    );
    expect(Object.keys(schema.properties)).toContain("mutations");
  });
  it("points only to what it holds", () => {
    const references = [...JSON.stringify(schema).matchAll(/"\$ref":"([^"]+)"/g)].map(
      (match) => match[1] ?? "",
    );
    expect(references.length).toBeGreaterThan(10);
    for (const reference of new Set(references))
      expect(schema.$defs).toHaveProperty([reference.replace("#/$defs/", "")]);
  });
});
