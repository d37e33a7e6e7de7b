import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { actionDefinitions, aciLimits } from "../../src/env/aci/index.js";
import { z } from "zod";

const page = readFileSync(new URL("../../docs/env.md", import.meta.url), "utf8");
const rows = page.split("\n").filter((line) => line.startsWith("| `"));

describe("docs/env.md", () => {
  it("has a row for each action, with the capability that it needs and all of its fields", () => {
    for (const { type, capability, schema } of actionDefinitions) {
      const row = rows.find((line) => line.startsWith(`| \`${type}\` `));
      expect(row, type).toBeDefined();
      expect(row?.split("|")[2]?.trim()).toBe(capability === null ? "-" : `\`${capability}\``);
      const { properties } = z.toJSONSchema(schema, { io: "input" });
      for (const field of Object.keys(properties ?? {}).filter((name) => name !== "type")) {
        expect(row?.split("|")[3], `${type}.${field}`).toMatch(new RegExp(`\\b${field}\\b`));
      }
    }
  });

  it("names every error code that an action's result can carry, and no other", () => {
    const source = readFileSync(new URL("../../src/env/aci/types.ts", import.meta.url), "utf8");
    const union = /type ActionErrorCode =([^;]+);/.exec(source)?.[1] ?? "";
    const codes = [...union.matchAll(/"(\w+)"/g)].map((match) => match[1]);
    const section = page.slice(page.indexOf("| code | meaning |"), page.indexOf("**The shell**"));
    expect([...section.matchAll(/^\| `(\w+)`/gm)].map((match) => match[1]).sort()).toEqual(codes.sort());
  });

  it("states the limits that are in force", () => {
    expect(page).toContain(`at most ${aciLimits.actionsPerStep}`);
    expect(page).toContain(aciLimits.defaultChars.toLocaleString("en-US"));
    expect(page).toContain(`${aciLimits.defaultTimeoutS} s unless`);
    expect(page).toContain(`${aciLimits.maxTimeoutS.toLocaleString("en-US")} s`);
  });
});
