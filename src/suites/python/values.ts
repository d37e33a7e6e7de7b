/** `str(value)` of what JSON holds. Whole numbers are integers: a file does not tell `1.0` from `1`. */
import type { Json } from "../../verifiers/assertions/json-value.js";
import { floatText, reprText } from "./numbers.js";

export function pythonText(value: Json): string {
  return typeof value === "string" ? value : repr(value);
}

function repr(value: Json): string {
  if (typeof value === "string") return reprText(value);
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return Number.isInteger(value) ? String(value) : floatText(value);
  if (Array.isArray(value)) return `[${value.map(repr).join(", ")}]`;
  return `{${Object.entries(value)
    .map(([name, held]) => `${reprText(name)}: ${repr(held)}`)
    .join(", ")}}`;
}
