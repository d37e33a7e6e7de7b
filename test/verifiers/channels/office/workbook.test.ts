/** Workbooks of Excel. */
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { closePool } from "../../../../src/verifiers/index.js";
import { dateText, isDateFormat } from "../../../../src/verifiers/channels/office/xlsx/dates.js";
import {
  columnName,
  columnNumber,
  movedFormula,
} from "../../../../src/verifiers/channels/office/xlsx/reference.js";
import { absent, changed, json, office, PLAIN, refused, SALES } from "./support.js";

afterAll(closePool);

describe("a workbook", () => {
  it("lists its sheets in their order, hidden ones too, and says which are", async () => {
    await office(SALES, { kind: "sheets" }, { type: "list", equals: ["Data", "Table", "Secret"] });
    await json(SALES, { kind: "workbook" }, "/sheets/2/state", "hidden");
    await json(SALES, { kind: "workbook" }, "/names/1", {
      name: "Total",
      sheet: null,
      refers_to: "Data!$C$5",
      hidden: false,
    });
  });
  it("has cells with the value that its application stored", async () => {
    await office(SALES, { kind: "cell_number", cell: "C5" }, { type: "number", equals: 600.75 });
    await office(SALES, { kind: "cell_text", cell: "D6" }, { type: "text", equals: "plain bold" });
    await office(
      SALES,
      { kind: "formula", cell: "A6" },
      { type: "text", equals: '=IF(C5>500,"big","small")' },
    );
    await json(SALES, { kind: "cell", cell: "B6" }, "", {
      type: "error",
      value: "#DIV/0!",
      formula: "=1/0",
      format: "General",
      date: null,
    });
    await json(SALES, { kind: "cell", cell: "C6" }, "/value", true);
  });
  it("has a date where a number's format says so, in the system of its own", async () => {
    await json(SALES, { kind: "cell", cell: "D4" }, "", {
      type: "number",
      value: 45351.5,
      formula: null,
      format: "yyyy-mm-dd",
      date: "2024-02-29T12:00:00",
    });
    await json(PLAIN, { kind: "workbook" }, "/date_system", 1904);
    await json(PLAIN, { kind: "cell", cell: "B1" }, "/date", "2024-02-29");
  });
  it("has ranges as tables, by letters or by the names in the first row", async () => {
    await office(
      SALES,
      { kind: "range", range: "C4:A2" },
      { type: "table", columns: ["A", "B", "C"], row_count: { equals: 3 } },
    );
    await office(
      SALES,
      { kind: "range", range: "A1:C4", header: true },
      {
        type: "table",
        columns: ["Region", "Quarter", "Amount"],
        rows: [
          ["North", "Q1", 100.5],
          ["South", "Q1", 200],
          ["North", "Q2", 300.25],
        ],
      },
    );
    await office(
      SALES,
      { kind: "range", sheet: "Table" },
      { type: "table", columns: ["B", "C"], row_count: { equals: 3 } },
    );
    await office(SALES, { kind: "range", sheet: 3 }, { type: "table", row_count: { equals: 0 } });
    await office(SALES, { kind: "range", range: "B6:C6" }, { type: "table", rows: [["#DIV/0!", "TRUE"]] });
  });
  it("has the look of a cell", async () => {
    await json(SALES, { kind: "style", cell: "A1" }, "/font", {
      name: "Calibri",
      size: 11,
      bold: true,
      italic: false,
      strike: false,
      underline: null,
      color: "FF0000",
    });
    await json(SALES, { kind: "style", cell: "A1" }, "/fill", { pattern: "solid", color: "FFFF00" });
    await json(SALES, { kind: "style", cell: "A1" }, "/alignment/horizontal", "center");
    await json(SALES, { kind: "style", cell: "C2" }, "/number_format", "#,##0.00");
    await json(PLAIN, { kind: "style", cell: "B1" }, "/border/left/style", "thin");
    await json(PLAIN, { kind: "style", cell: "B1" }, "/font/underline", "single");
  });
  it("has what its sheets hold beside cells", () =>
    office(
      SALES,
      { kind: "sheet" },
      {
        type: "json",
        subset: {
          merged: ["A8:C8"],
          hidden_columns: ["F", "G"],
          hidden_rows: [11],
          row_heights: { "10": 30 },
          frozen: { rows: 1, columns: 0 },
          auto_filter: "A1:D4",
          tab_color: "00FF00",
          conditional_formats: [
            { range: "C2:C4", type: "cellIs", operator: "greaterThan", formulas: ["150"] },
          ],
          validations: [
            { range: "B2:B4", type: "list", operator: "between", formula1: '"Q1,Q2"', formula2: null },
          ],
          links: { A13: "https://example.org/a" },
          comments: [{ cell: "A2", author: "Ada", text: "check this" }],
        },
      },
    ));
  it("has charts by their key properties", () =>
    json(SALES, { kind: "sheet" }, "/charts/0", {
      types: ["barChart"],
      direction: "col",
      grouping: "clustered",
      title: "Sales by region",
      legend: "b",
      axes: [
        { kind: "catAx", title: "Region" },
        { kind: "valAx", title: null },
      ],
      series: [
        { name: "Amount", name_ref: "Data!$C$1", categories: "Data!$A$2:$A$4", values: "Data!$C$2:$C$4" },
      ],
      from: "H2",
      to: "O16",
    }));
  it("has pivot tables, tables and images by their key properties", async () => {
    await json(SALES, { kind: "sheet", sheet: "Table" }, "/pivots/0", {
      name: "PivotTable1",
      location: "B10:D14",
      source: { sheet: "Data", ref: "A1:C4", name: null },
      rows: ["Region"],
      columns: ["Quarter"],
      filters: [],
      values: [{ name: "Average of Amount", field: "Amount", function: "average" }],
    });
    await json(SALES, { kind: "sheet", sheet: "Table" }, "/tables/0", {
      name: "Stock",
      ref: "B2:C4",
      columns: ["Item", "Count"],
      totals: false,
    });
    await json(SALES, { kind: "sheet" }, "/images/0/alt", "a red dot");
  });
  it("has text and properties", async () => {
    await office(SALES, { kind: "text" }, { type: "text", contains: ["South\tQ1\t200", "bolt\t3"] });
    await office(
      SALES,
      { kind: "properties" },
      {
        type: "json",
        subset: {
          title: "Sales",
          author: "Ada Lovelace",
          created: "2024-01-01T00:00:00Z",
          custom: { Reviewed: "yes" },
        },
      },
    );
  });
  it("lacks sheets, cells and formulas that are not there, which fails", async () => {
    await absent(SALES, { kind: "sheet", sheet: "Gone" }, ' has no sheet "Gone"');
    await absent(SALES, { kind: "sheet", sheet: 4 }, " has no sheet 4");
    await absent(SALES, { kind: "cell", cell: "Z99" }, ": Data!Z99 is empty");
  });
  it("is ungraded where a value is of another type: nothing is converted", async () => {
    await refused(
      SALES,
      "Data!B6 holds the error #DIV/0!, not a text",
      { kind: "cell_text", cell: "B6" },
      { type: "text", equals: "x" },
    );
    await refused(
      SALES,
      "Data!C5 holds a number, not a text",
      { kind: "cell_text", cell: "C5" },
      { type: "text", equals: "600.75" },
    );
    await refused(
      PLAIN,
      "Plain!A2 holds a formula without a stored value",
      { kind: "cell_number", cell: "A2" },
      { type: "number", equals: 42 },
    );
    await refused(
      PLAIN,
      "A2 holds a formula without a stored value",
      { kind: "range" },
      { type: "table", rows: [] },
    );
  });
});

it("a workbook in the strict form of the standard is read likewise", () => {
  const strict = (text: string): string =>
    text
      .replaceAll(
        "http://schemas.openxmlformats.org/officeDocument/2006/",
        "http://purl.oclc.org/ooxml/officeDocument/",
      )
      .replaceAll(
        "http://schemas.openxmlformats.org/spreadsheetml/2006/main",
        "http://purl.oclc.org/ooxml/spreadsheetml/main",
      );
  const parts = [
    "_rels/.rels",
    "xl/workbook.xml",
    "xl/_rels/workbook.xml.rels",
    "xl/worksheets/sheet1.xml",
    "xl/styles.xml",
  ];
  const file = changed(PLAIN, Object.fromEntries(parts.map((name) => [name, strict])));
  return json(file, { kind: "cell", cell: "B1" }, "/date", "2024-02-29");
});

describe("a formula that is shared", () => {
  const shared = changed(PLAIN, {
    "xl/worksheets/sheet1.xml": (text) =>
      text.replace(
        /<sheetData>.*<\/sheetData>/,
        '<sheetData><row r="1"><c r="A1"><f t="shared" ref="A1:A3" si="0">B1*$C$1+SUM(D1:D2)&amp;"B1"</f><v>1</v></c></row><row r="3"><c r="A3"><f t="shared" si="0"/><v>2</v></c></row></sheetData>',
      ),
  });
  it("is moved to the place of each cell", () =>
    office(shared, { kind: "formula", cell: "A3" }, { type: "text", equals: '=B3*$C$1+SUM(D3:D4)&"B1"' }));
  it.each([
    ["A1+'A1 b'!B2", 1, 1, "B2+'A1 b'!C3"],
    ["LOG10(A1)", 1, 0, "LOG10(A2)"],
    ["$A1+A$1", 2, 2, "$A3+C$1"],
    ["Sales2024+A1", 1, 0, "Sales2024+A2"],
  ])("%s moves %d down and %d right to %s", (formula, rows, columns, expected) => {
    expect(movedFormula(formula, rows, columns)).toBe(expected);
  });
});

describe("dates of a workbook", () => {
  it.each([
    [1, false, "1900-01-01"],
    [59, false, "1900-02-28"],
    [60, false, "1900-02-29"],
    [61, false, "1900-03-01"],
    [45292, false, "2024-01-01"],
    [0.5, false, "12:00:00"],
    [45292.000011574, false, "2024-01-01T00:00:01"],
    [0, true, "1904-01-01"],
    [43830, true, "2024-01-01"],
    [-1, false, undefined],
    [3_000_000, false, undefined],
  ])("%d, from 1904: %s, is %s", (serial, from1904, text) => {
    expect(dateText(serial, from1904)).toBe(text);
  });
  it.each([
    ["yyyy-mm-dd", true],
    ["[h]:mm:ss", true],
    ["General", false],
    ["0.00", false],
    ['0 "days"', false],
    ["[Red]0.00", false],
    ["[$-409]d mmm", true],
    ["\\d0", false],
  ])("%s shows a date: %s", (code, expected) => {
    expect(isDateFormat(code)).toBe(expected);
  });
  it("columns and their letters go back and forth", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 16_384 }),
        (column) => columnNumber(columnName(column)) === column,
      ),
    );
  });
});
