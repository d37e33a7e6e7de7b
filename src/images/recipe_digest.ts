import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { asset } from "./assets.js";
import { sha256 } from "./files.js";
import { appendFinish, type ImageRecipe, pathRules, recipeVersion } from "./recipe.js";

/**
 * Digest of everything of ours that a root's bytes depend on: the recipe, the path rules, the scripts that run in the
 * guest. A forgotten change of `recipeVersion` therefore never serves an old root.
 */
export function recipeDigest(recipe: ImageRecipe): string {
  const folder = asset("guest");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => statSync(join(folder, path)).isFile())
    .sort()
    .map((path) => [path, sha256(readFileSync(join(folder, path)))]);
  return sha256(JSON.stringify([recipeVersion, recipe, pathRules, appendFinish, files]));
}
