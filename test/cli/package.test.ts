import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../support/cli.js";

/** The files that `npm pack` would take, by npm's own rules. */
function packed(): string[] {
  const listing = execFileSync("npm", ["pack", "--dry-run", "--ignore-scripts", "--json"], {
    cwd: root,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const packages = Object.values(JSON.parse(listing.toString()) as { files: { path: string }[] }[]);
  return packages.flatMap(({ files }) => files.map(({ path }) => path));
}

/** Files below a folder of the repository. */
function below(folder: string): string[] {
  const entries = readdirSync(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

describe("the published package", () => {
  const files = packed();

  it("holds what an installation reads: launcher, JavaScript, guest agent, image assets and demo tasks", () => {
    const needed = ["bin/shinken", "dist/cli/main.js", "dist/index.d.ts", "build/agent/shinken-agent"];
    const assets = ["src/images/guest", "src/images/keys", "tasks/demo"].flatMap(below);
    expect(files).toEqual(expect.arrayContaining([...needed, ...assets]));
  });

  it("leaves out sources, which no installation compiles", () => {
    expect(files.filter((path) => /^native|^test|^src.*\.ts$|\.map$|^build\/Release/.test(path))).toEqual([]);
  });
});
