/** The task format as JSON Schema, for editors and for other languages. */
import { z } from "zod";
import { LITERAL_FIELDS, PARAMETRIC } from "./references.js";
import { taskSchema } from "./schema.js";

type Node = Record<string, unknown>;

const REFERENCE = "paramReference";
const LEAVES = new Set<unknown>(["string", "number", "integer", "boolean", "null", "array"]);

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * JSON Schema (draft 2020-12) of a task file. Wherever a number, a text or a list of values may stand, so may a
 * reference to a parameter; fields that choose among shapes (`const`) take none.
 */
export function taskJsonSchema(): Node {
  const schema = z.toJSONSchema(taskSchema, { io: "input", unrepresentable: "any", reused: "ref" }) as Node;
  const definitions = isNode(schema.$defs) ? schema.$defs : {};
  const properties = isNode(schema.properties) ? schema.properties : {};
  const roots = PARAMETRIC.flatMap((name) => (isNode(properties[name]) ? [properties[name]] : []));
  // A definition shared with a part that takes no reference (an id) must stay as it is, so the parts get copies.
  const copies: Record<string, Node> = {};
  const open = (node: Node): Node => {
    const out: Node = {};
    for (const [key, value] of Object.entries(node)) out[key] = openField(key, value);
    return isLeaf(node) ? { anyOf: [out, { $ref: `#/$defs/${REFERENCE}` }] } : out;
  };
  const openField = (key: string, value: unknown): unknown => {
    if (key === "$ref" && typeof value === "string")
      return `#/$defs/${copyOf(value.slice("#/$defs/".length))}`;
    if (
      key === "enum" ||
      key === "const" ||
      key === "default" ||
      key === "required" ||
      key === "propertyNames"
    )
      return value;
    if (Array.isArray(value)) return value.map((item: unknown) => (isNode(item) ? open(item) : item));
    if (!isNode(value)) return value;
    if (key !== "properties") return open(value);
    return Object.fromEntries(
      Object.entries(value).map(([name, field]) => [
        name,
        isNode(field) && !LITERAL_FIELDS.has(name) ? open(field) : field,
      ]),
    );
  };
  const copyOf = (name: string): string => {
    const copied = `${name}_p`;
    const original = definitions[name];
    if (!Object.hasOwn(copies, copied) && isNode(original)) {
      copies[copied] = {};
      copies[copied] = open(original);
    }
    return copied;
  };
  const opened = roots.map(open);
  PARAMETRIC.forEach((name, index) => {
    properties[name] = opened[index];
  });
  const reference = {
    type: "object",
    properties: { param: { type: "string" } },
    required: ["param"],
    additionalProperties: false,
  };
  return {
    ...schema,
    title: "Shinken Gym task",
    properties,
    $defs: { ...definitions, ...copies, [REFERENCE]: reference },
  };
}

function isLeaf(node: Node): boolean {
  if ("const" in node) return false;
  const types: unknown[] = Array.isArray(node.type) ? node.type : [node.type];
  return types.every((type) => LEAVES.has(type));
}
