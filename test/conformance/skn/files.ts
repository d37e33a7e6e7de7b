/** Where the files of the conformance folder lie. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const golden = fileURLToPath(new URL("./golden", import.meta.url));

export function bundleNames(): string[] {
  return readdirSync(join(golden, "bundles"))
    .map((file) => file.replace(/\.skn$/, ""))
    .sort();
}

export function bundleFile(name: string): string {
  return join(golden, "bundles", `${name}.skn`);
}

export function json(path: string): unknown {
  return JSON.parse(readFileSync(join(golden, path), "utf8"));
}
