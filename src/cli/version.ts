import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "./root.js";

/** The package's version. */
export function version(): string {
  const text = readFileSync(join(packageRoot(), "package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
