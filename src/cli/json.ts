/** What `--json` prints: one line, with names as on the wire. Inside, the same values have the names of TypeScript. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(outside(value))}\n`);
}

/** The value with `sizeBytes` as `size_bytes` and so on, all the way down. For values whose names are all ours. */
export function outside(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(outside);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, held]) => [underscored(name), outside(held)]));
}

function underscored(name: string): string {
  return name.replace("MiB", "Mib").replace(/[A-Z]+/g, (capitals) => `_${capitals.toLowerCase()}`);
}
