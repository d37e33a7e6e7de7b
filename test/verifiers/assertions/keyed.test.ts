import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Verdict } from "../../../src/verifiers/index.js";
import { grade } from "../support.js";

const csv = "id,name,age,note\n1,Ann,30,x\n2,Bob,41,y\n";
function judged(assert: object, text: string = csv): Promise<Verdict> {
  const check = {
    id: "t",
    channel: "fs",
    query: { kind: "csv", path: "/t", numeric: ["age"] },
    assert: { type: "table", ...assert },
  };
  return grade(check, { files: { "/t": text } });
}
const wanted = { key: ["id"], columns: ["id", "age", "name"], as: "set" };

describe("a table with key columns", () => {
  it("is compared by key, whatever the order of rows and columns and whatever else it holds", async () => {
    const rows = [
      ["2", 41, "Bob"],
      ["1", 30, "Ann"],
    ];
    expect(await judged({ ...wanted, rows })).toMatchObject({ score: 1 });
    expect(await judged({ ...wanted, rows, as: "list" })).toMatchObject({ score: 0 });
    expect(await judged({ ...wanted, rows: rows.toReversed(), as: "list" })).toMatchObject({ score: 1 });
  });

  it("names the row and the column that differ", async () => {
    const verdict = await judged({
      ...wanted,
      rows: [
        ["1", 31, "Ann"],
        ["2", 41, "Bob"],
      ],
    });
    expect(verdict.checks[0]?.evidence).toContain('row ["1"], age: wanted 31, saw 30');
  });

  it("tells missing rows from those that are too much", async () => {
    const verdict = await judged({
      ...wanted,
      rows: [
        ["1", 30, "Ann"],
        ["3", 1, "Cy"],
      ],
    });
    expect(verdict.checks[0]?.evidence).toBe('there is no row ["3"]; row ["2"] is too much');
    expect(await judged({ ...wanted, as: "includes", rows: [["1", 30, "Ann"]] })).toMatchObject({ score: 1 });
  });

  it("scores the share of rows where it is asked to", async () => {
    const verdict = await judged({
      ...wanted,
      partial: true,
      rows: [
        ["1", 30, "Ann"],
        ["2", 40, "Bob"],
      ],
    });
    expect(verdict.score).toBe(0.5);
  });

  it("fails where the key is none", async () => {
    const twice = `${csv}1,Ann,30,z\n`;
    const verdict = await judged(
      {
        ...wanted,
        rows: [
          ["1", 30, "Ann"],
          ["2", 41, "Bob"],
        ],
      },
      twice,
    );
    expect(verdict).toMatchObject({ score: 0 });
    expect(verdict.checks[0]?.evidence).toContain('the key ["1"] stands twice');
  });

  it("fails where a column is missing", async () => {
    expect(await judged({ ...wanted, rows: [] }, "id,age\n")).toMatchObject({ score: 0 });
  });

  it("normalises its text cells on both sides", async () => {
    const rows = [
      ["1", 30, "ann"],
      ["2", 41, "BOB"],
    ];
    expect(await judged({ ...wanted, rows })).toMatchObject({ score: 0 });
    expect(await judged({ ...wanted, rows, normalise: ["casefold"] })).toMatchObject({ score: 1 });
  });

  it("equals itself in any order, and never with one cell changed", async () => {
    const cell = fc.integer({ min: 0, max: 99 });
    const table = fc.uniqueArray(fc.tuple(cell, cell), {
      minLength: 1,
      maxLength: 8,
      selector: ([id]) => id,
    });
    await fc.assert(
      fc.asyncProperty(table, fc.nat(), async (rows, at) => {
        const text = (list: number[][]): string => `id,v\n${list.map((row) => row.join(",")).join("\n")}\n`;
        const query = { kind: "csv", path: "/t", numeric: ["id", "v"] };
        const assert = { type: "table", key: ["id"], columns: ["id", "v"], as: "set", rows };
        const check = { id: "t", channel: "fs", query, assert };
        expect((await grade(check, { files: { "/t": text(rows.toReversed()) } })).score).toBe(1);
        const changed = rows.map((row, index) => (index === at % rows.length ? [row[0], row[1] + 1] : row));
        expect((await grade(check, { files: { "/t": text(changed) } })).score).toBe(0);
      }),
      { numRuns: 50 },
    );
  });
});
