/** Walks over payloads: what is no list and no plain object is a leaf. Places are JSON Pointers (RFC 6901). */

/** The pointer to a field or item of what `path` points to. */
export function under(path: string, key: string | number): string {
  if (typeof key === "number") return `${path}/${key}`;
  return `${path}/${key.includes("~") || key.includes("/") ? key.replaceAll("~", "~0").replaceAll("/", "~1") : key}`;
}

/**
 * The same structure, each leaf mapped with its path, and each field's name by `name`. Fields keep their order; any name may be a
 * field's, `__proto__` too.
 */
export function mapLeaves(
  value: unknown,
  map: (path: string, leaf: unknown) => unknown,
  name: (key: string) => string = same,
  path = "",
): unknown {
  if (Array.isArray(value)) return value.map((item, at) => mapLeaves(item, map, name, under(path, at)));
  if (isPlain(value)) {
    const entries = Object.entries(value).map(([key, item]) => [
      name(key),
      mapLeaves(item, map, name, under(path, key)),
    ]);
    // Unlike an assignment, this makes a field of every name.
    return Object.fromEntries(entries);
  }
  return map(path, value);
}

const same = (key: string): string => key;

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
