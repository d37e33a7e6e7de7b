/** `docs/scorers.md` names every scorer, every kind of vector and its fields. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scorerIds } from "../../src/suites/index.js";
import { skipped, tables } from "../../src/suites/vectors/tables.js";
import { root } from "../support/cli.js";

const page = readFileSync(join(root, "docs", "scorers.md"), "utf8");

describe("docs/scorers.md", () => {
  it("has a row, or a place in one, for every scorer, and for none that is not there", () => {
    const names = new Set(scorerIds.map((id) => id.replace(/\.v\d+\/.*$/, "")));
    for (const name of names) expect(page).toContain(`\`${name}\``);
    const shown = [...page.matchAll(/^\| (`[^|]*`) \|/gm)].flatMap(
      ([, cell = ""]) => cell.match(/`[a-z0-9]+\.[a-z0-9_]+`/g) ?? [],
    );
    expect(shown.filter((name) => !names.has(name.slice(1, -1)))).toEqual([]);
  });

  it("names every kind of vector", () => {
    for (const name of [...Object.keys(tables), ...skipped]) expect(page).toContain(`\`${name}\``);
  });
});
