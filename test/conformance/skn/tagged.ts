/** Values as the expected files have them: what JSON cannot say in a tagged form. */
import { UnknownExtension } from "../../../src/replay/format/values.js";

export function tagged(value: unknown): unknown {
  if (value instanceof Uint8Array) return { $bytes: Buffer.from(value).toString("base64") };
  if (value instanceof UnknownExtension)
    return { $extension: value.type, data: Buffer.from(value.data).toString("base64") };
  if (typeof value === "number" && !Number.isFinite(value)) return { $number: String(value) };
  if (Array.isArray(value)) return value.map(tagged);
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, tagged(item)]));
  return value;
}
