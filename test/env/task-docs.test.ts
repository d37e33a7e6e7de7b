import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { makeTask, parseDocument, taskJsonSchema } from "../../src/env/task/index.js";
import { normaliserNames } from "../../src/verifiers/assertions/schema.js";

const docs = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "docs");
const tasks = readFileSync(join(docs, "tasks.md"), "utf8");
const verifiers = readFileSync(join(docs, "verifiers.md"), "utf8");

type Schema = Record<string, unknown>;

const schema = taskJsonSchema();

function resolve(node: Schema | undefined): Schema | undefined {
  const reference = node?.$ref;
  if (typeof reference !== "string") return node;
  return resolve((schema.$defs as Record<string, Schema>)[reference.replace("#/$defs/", "")]);
}

/** Every value that a schema allows for a key in any place. */
function constants(node: unknown, key: string, into = new Set<string>()): Set<string> {
  if (typeof node !== "object" || node === null) return into;
  const properties = (node as Schema).properties as Record<string, Schema> | undefined;
  const found = resolve(properties?.[key])?.const;
  if (typeof found === "string") into.add(found);
  for (const field of Object.values(node)) constants(field, key, into);
  return into;
}

describe("the JSON Schema, by another implementation's validator,", () => {
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
  const here = dirname(fileURLToPath(import.meta.url));
  const document = (): Record<string, unknown> =>
    parseDocument(readFileSync(join(here, "task-good.yaml"), "utf8"), "task-good.yaml") as Record<
      string,
      unknown
    >;

  it("accepts a sound task with references in every place", () => {
    validate(document());
    expect(validate.errors ?? []).toEqual([]);
  });

  it.each([
    "instrution",
    "setup.0.write.pth",
    "verify.graph.weighted.0.asert",
    "verify.graph.weighted.0.query.pth",
  ])("refuses the unknown field %s", (place) => {
    const task = document();
    const parts = place.split(".");
    const last = parts.pop() ?? "";
    let target = task;
    for (const part of parts) target = target[part] as Record<string, unknown>;
    target[last] = "x";
    expect(validate(task)).toBe(false);
  });

  it("takes no reference where a value chooses among shapes or names a node", () => {
    for (const field of ["channel", "id"]) {
      const task = document();
      const graph = (task.verify as { graph: { weighted: Record<string, unknown>[] } }).graph;
      (graph.weighted[0] as Record<string, unknown>)[field] = { param: "count" };
      expect(validate(task), field).toBe(false);
    }
  });
});

describe("docs/tasks.md", () => {
  it("shows a task that loads", () => {
    const [, yaml = ""] = /```yaml\n([\s\S]*?)```/.exec(tasks) ?? [];
    const task = makeTask(parseDocument(yaml, "docs/tasks.md"));
    expect(task.variant({ params: { number: "2" } }).task.instruction).toContain("city number 2 in");
  });

  it("names every field of a task", () => {
    for (const name of Object.keys(taskJsonSchema().properties as Schema))
      expect(tasks).toContain(`\`${name}\``);
  });
});

describe("docs/verifiers.md", () => {
  it.each(["channel", "kind", "type"])("names every %s", (key) => {
    const names = constants(schema, key);
    expect(names.size).toBeGreaterThan(4);
    for (const name of names) expect(`${verifiers}${tasks}`).toContain(`\`${name}\``);
  });
  it("names every normaliser", () => {
    for (const name of normaliserNames) expect(verifiers).toContain(`\`${name}\``);
  });
});
