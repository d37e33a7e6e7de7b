import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ShinkenError } from "../errors/index.js";

/** The package's root: the nearest folder above this file that holds package.json. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json"))) {
    const parent = dirname(folder);
    if (parent === folder) throw new ShinkenError("internal", "the package's root was not found");
    folder = parent;
  }
  return folder;
}

/** A data file of this room (keys, guest scripts); the compiler does not copy them, so they stay in src. */
export function asset(...path: string[]): string {
  return join(packageRoot(), "src", "images", ...path);
}
