/** The path and kind of the first thing in a value that JSON cannot carry unchanged; null if there is none. */
export function plainJsonFault(value: unknown, path = "(value)"): string | null {
  switch (typeof value) {
    case "string":
      return Buffer.from(value).toString() === value ? null : `${path} is not well-formed text`;
    case "boolean":
    case "undefined":
      return null;
    case "number":
      return Number.isFinite(value) ? null : `${path} is ${value}`;
    case "object":
      break;
    default:
      return `${path} is a ${typeof value}`;
  }
  if (value === null) return null;
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) {
    return `${path} is no plain object but ${Object.prototype.toString.call(value)}`;
  }
  for (const [key, item] of Object.entries(value)) {
    const fault = plainJsonFault(item, `${path}.${key}`);
    if (fault !== null) return fault;
  }
  return null;
}
