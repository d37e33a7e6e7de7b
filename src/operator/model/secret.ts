/** Keeps a key out of everything that is told: an endpoint may quote it, in an error or in a reply. */

/** Shorter ones could be any word; no endpoint has such keys. */
const shortest = 6;

/** A function that gives any JSON value back with `[secret]` where the key stood. */
export function withholding(key: string | undefined): <T>(value: T) => T {
  if (key === undefined || key.length < shortest) return (value) => value;
  const hide = (value: unknown): unknown => {
    if (typeof value === "string") return value.replaceAll(key, "[secret]");
    if (Array.isArray(value)) return value.map(hide);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, held]) => [hide(name), hide(held)]));
  };
  return <T>(value: T) => hide(value) as T;
}
