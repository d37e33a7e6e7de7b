import { createHash } from "node:crypto";

/** JSON with sorted keys and without undefined fields: equal values give equal text. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value))
    return `[${value.map((item) => canonicalJson(item === undefined ? null : item)).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value)
      .filter(([, field]) => field !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    return `{${entries.map(([key, field]) => `${JSON.stringify(key)}:${canonicalJson(field)}`).join(",")}}`;
  }
  return value === undefined ? "null" : JSON.stringify(value);
}

/** SHA-256 in hex of text or bytes. */
export function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

/** SHA-256 in hex of a value's canonical JSON. */
export function digestOf(value: unknown): string {
  return sha256(canonicalJson(value));
}
