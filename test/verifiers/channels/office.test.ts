import { strToU8, unzipSync, zipSync } from "fflate";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { closePool } from "../../../src/verifiers/index.js";
import { dateText, isDateFormat } from "../../../src/verifiers/channels/office/xlsx/dates.js";
import {
  columnName,
  columnNumber,
  movedFormula,
} from "../../../src/verifiers/channels/office/xlsx/reference.js";
import { answerOrFault, faults, fixture, holds, lacks, survivesMutation } from "./documents.js";
import { mutated } from "./support.js";

afterAll(closePool);

const PATH = "/home/agent/out";
const SALES = fixture("sales.xlsx");
const PLAIN = fixture("plain.xlsx");
const LETTER = fixture("letter.docx");
const TALK = fixture("talk.pptx");

const office = (bytes: Uint8Array, query: object, assert: object) =>
  holds("office", { path: PATH, ...query }, assert, { [PATH]: bytes });
const json = (bytes: Uint8Array, query: object, path: string, equals: unknown) =>
  office(bytes, query, { type: "json", path, equals });
const absent = (bytes: Uint8Array, query: object, why: string) =>
  lacks("office", { path: PATH, ...query }, { [PATH]: bytes }, `${PATH}${why}`);
const refused = (
  bytes: Uint8Array,
  why: string,
  query: object = { kind: "properties" },
  assert: object = { type: "json", exists: true },
) => faults("office", { path: PATH, ...query }, assert, { [PATH]: bytes }, why);

/** A file with some of its parts put in, changed or (null) taken out. */
function changed(
  bytes: Uint8Array,
  parts: Record<string, ((text: string) => string) | string | null>,
): Uint8Array {
  const files = unzipSync(bytes);
  for (const [name, change] of Object.entries(parts)) {
    const before = Buffer.from(files[name] ?? []).toString();
    if (change === null) Reflect.deleteProperty(files, name);
    else files[name] = strToU8(typeof change === "string" ? change : change(before));
  }
  return zipSync(files);
}

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

describe("a document", () => {
  it("has text, paragraphs and tables", async () => {
    await office(
      LETTER,
      { kind: "text" },
      {
        type: "text",
        equals:
          "Report\nPlain, bold and italic\nfirst\nItem\tCount\tNote\nbolt\tnone left\nafter the table\n",
      },
    );
    await office(
      LETTER,
      { kind: "paragraphs" },
      { type: "list", equals: ["Report", "Plain, bold and italic", "first", "after the table", ""] },
    );
    await office(
      LETTER,
      { kind: "table", header: true },
      { type: "table", columns: ["Item", "Count", "Note"], rows: [["bolt", "none left", null]] },
    );
  });
  it("has headings, alignment and lists through its styles", async () => {
    await office(
      LETTER,
      { kind: "document" },
      { type: "json", path: "/paragraphs/0", subset: { style: "heading 1", level: 1 } },
    );
    await json(LETTER, { kind: "document" }, "/paragraphs/1/alignment", "center");
    await json(LETTER, { kind: "document" }, "/paragraphs/2/list", { level: 0, format: "bullet" });
  });
  it("has the look of every run, wherever it comes from", async () => {
    const common = { strike: false, underline: null, highlight: null, vertical: "baseline" };
    await json(LETTER, { kind: "document" }, "/paragraphs/1/runs", [
      {
        text: "Plain, ",
        bold: false,
        italic: false,
        font: "theme:minorHAnsi",
        size: 11,
        color: "auto",
        ...common,
      },
      { text: "bold", bold: true, italic: false, font: "Courier New", size: 14, color: "FF0000", ...common },
      {
        text: " and italic",
        bold: false,
        italic: true,
        font: "theme:minorHAnsi",
        size: 11,
        color: "auto",
        ...common,
      },
    ]);
    await json(LETTER, { kind: "document" }, "/paragraphs/0/runs/0/bold", true);
  });
  it("has sections with headers and footers, and images", async () => {
    await office(
      LETTER,
      { kind: "document" },
      {
        type: "json",
        path: "/sections/0",
        subset: {
          orientation: "portrait",
          headers: { default: "Top of page" },
          footers: { default: "Bottom of page" },
        },
      },
    );
    await office(LETTER, { kind: "document" }, { type: "json", path: "/images", length: 1 });
  });
  const body = (inner: string) =>
    changed(LETTER, {
      "word/document.xml": (text) => text.replace(/<w:body>.*<\/w:body>/s, `<w:body>${inner}</w:body>`),
    });
  it("is read as it stands with its changes: what was deleted is gone", () =>
    office(
      body(
        "<w:p><w:r><w:t>a</w:t></w:r><w:del><w:r><w:delText>b</w:delText></w:r></w:del><w:ins><w:r><w:t>c</w:t></w:r></w:ins><w:r><w:tab/><w:instrText>PAGE</w:instrText></w:r></w:p>",
      ),
      { kind: "text" },
      { type: "text", equals: "ac\t" },
    ));
  it("has one run where an application split it", () =>
    office(
      body("<w:p><w:r><w:t>o</w:t></w:r><w:r><w:t>ne</w:t></w:r></w:p>"),
      { kind: "document" },
      { type: "json", path: "/paragraphs/0/runs", length: 1 },
    ));
  it("whose styles are based on each other in a circle is read", () =>
    office(
      changed(LETTER, {
        "word/styles.xml": (text) =>
          text.replace(/<w:basedOn w:val="Normal"\/>/g, '<w:basedOn w:val="Heading1"/>'),
      }),
      { kind: "document" },
      { type: "json", path: "/paragraphs/0/level", equals: 1 },
    ));
});

describe("a presentation", () => {
  it("has the texts of its slides", async () => {
    await office(
      TALK,
      { kind: "slides" },
      { type: "list", equals: ["Welcome\nto the talk", "Numbers\nin bold\na\nb\nc\nd"] },
    );
    await office(TALK, { kind: "text" }, { type: "text", contains: "to the talk\fNumbers" });
  });
  it("has shapes with their places, those of a layout too", async () => {
    await office(
      TALK,
      { kind: "slide", slide: 1 },
      {
        type: "json",
        subset: { layout: "Title Slide", notes: "say hello", transition: null, hidden: false },
      },
    );
    await office(
      TALK,
      { kind: "slide", slide: 1 },
      {
        type: "json",
        path: "/shapes/0",
        subset: { placeholder: "ctrTitle", x: 685_800, y: 2_130_425, text: "Welcome" },
      },
    );
    await office(
      TALK,
      { kind: "slide", slide: 2 },
      { type: "json", path: "/shapes/1", subset: { name: "TextBox 2", x: 914_400, width: 2_743_200 } },
    );
    await office(
      TALK,
      { kind: "slide", slide: 2 },
      {
        type: "json",
        path: "/shapes/1/paragraphs/0/runs/0",
        subset: { text: "in bold", bold: true, size: 24, color: "0000FF" },
      },
    );
  });
  it("has pictures, tables, charts and transitions", async () => {
    await office(
      TALK,
      { kind: "slide", slide: 2 },
      { type: "json", path: "/shapes/2", subset: { kind: "picture", name: "Dot" } },
    );
    await json(TALK, { kind: "slide", slide: 2 }, "/shapes/3/rows", [
      ["a", "b"],
      ["c", "d"],
    ]);
    await office(
      TALK,
      { kind: "slide", slide: 2 },
      { type: "json", path: "/shapes/4/chart", subset: { types: ["pieChart"] } },
    );
    await json(TALK, { kind: "slide", slide: 2 }, "/transition", {
      type: "fade",
      speed: "slow",
      advance_after: 3_000,
    });
    await json(TALK, { kind: "slide", slide: 2 }, "/hidden", true);
  });
  it("lacks a slide beyond its last, which fails", () =>
    absent(TALK, { kind: "slide", slide: 3 }, " has 2 slides and no slide 3"));
});

describe("an office file is refused:", () => {
  const laughs = `<!DOCTYPE lolz [<!ENTITY a "ha">${Array.from({ length: 9 }, (_, n) => `<!ENTITY ${"bcdefghij"[n] ?? ""} "${`&${"abcdefghi"[n] ?? ""};`.repeat(10)}">`).join("")}]>`;
  it.each([
    [
      "a billion laughs",
      changed(LETTER, {
        "word/document.xml": (text) =>
          text.replace("<w:document", `${laughs}<w:document`).replace("<w:body>", "<w:body>&j;"),
      }),
      "declares a document type, whose entities are not expanded",
    ],
    [
      "an entity of nobody's",
      changed(LETTER, { "word/document.xml": (text) => text.replace("<w:body>", "<w:body>&lol;") }),
      "is not XML",
    ],
    [
      "a part of a hundred megabytes",
      changed(LETTER, { "word/document.xml": `<a>${" ".repeat(100 * 2 ** 20)}</a>` }),
      "is larger than 67108864 bytes",
    ],
    [
      "a part of forty megabytes",
      changed(LETTER, { "word/document.xml": `<a>${" ".repeat(40 * 2 ** 20)}</a>` }),
      "is larger than 33554432 bytes",
    ],
    [
      "elements without end",
      changed(LETTER, { "word/document.xml": "<a>".repeat(100_000) }),
      "nested deeper than 256",
    ],
    [
      "half a million elements",
      changed(LETTER, { "word/document.xml": `<a>${"<b/>".repeat(500_000)}</a>` }),
      "more than 400000 elements",
    ],
    [
      "an element of many attributes",
      changed(LETTER, {
        "word/document.xml": `<a ${Array.from({ length: 300 }, (_, n) => `x${n}=""`).join(" ")}/>`,
      }),
      "more than 256 attributes",
    ],
    [
      "another encoding",
      changed(LETTER, { "word/document.xml": '<?xml version="1.0" encoding="latin1"?><a/>' }),
      "is encoded as latin1",
    ],
    [
      "a part that is missing",
      changed(LETTER, { "word/document.xml": null }),
      "lacks its part word/document.xml",
    ],
    ["no relations", changed(LETTER, { "_rels/.rels": null }), "is no Office Open XML file"],
    [
      "a part outside",
      changed(LETTER, {
        "_rels/.rels": (text) => text.replace('Target="word/document.xml"', 'Target="../../../etc/passwd"'),
      }),
      "lacks its part etc/passwd",
    ],
    [
      "another kind of file",
      changed(LETTER, { "word/document.xml": "<html/>" }),
      "no workbook, document or presentation, but <html>",
    ],
    [
      "an older format",
      Buffer.from("d0cf11e0a1b11ae100000000", "hex"),
      "of an older format or has a password",
    ],
    ["plain text", Buffer.from("hello"), "is no Office Open XML file"],
  ] as [string, Uint8Array, string][])("%s", (_, bytes, why) => refused(bytes, why));

  const sheet = (rows: string) =>
    changed(PLAIN, {
      "xl/worksheets/sheet1.xml": (text) =>
        text.replace(/<sheetData>.*<\/sheetData>/, `<sheetData>${rows}</sheetData>`),
    });
  it.each([
    ["rows out of order", sheet('<row r="2"/><row r="1"/>'), "rows out of order"],
    [
      "a cell twice",
      sheet('<row r="1"><c r="A1"><v>1</v></c><c r="A1"><v>2</v></c></row>'),
      "cells out of order at A1",
    ],
    ["a cell of another row", sheet('<row r="1"><c r="A2"><v>1</v></c></row>'), "cells out of order at A2"],
    ["a cell beyond all sheets", sheet('<row r="1"><c r="ZZZ1"><v>1</v></c></row>'), 'no cell "ZZZ1"'],
    [
      "a shared text that is not there",
      sheet('<row r="1"><c r="A1" t="s"><v>99</v></c></row>'),
      "no shared text 99",
    ],
    ["a number that is none", sheet('<row r="1"><c r="A1"><v>0x10</v></c></row>'), "is not a number"],
    ["a type that nobody knows", sheet('<row r="1"><c r="A1" t="q"><v>1</v></c></row>'), "unknown type q"],
    [
      "cells too far apart for one table",
      sheet('<row r="1"><c r="A1"><v>1</v></c></row><row r="1000000"><c r="Z1000000"><v>1</v></c></row>'),
      "more than 200000 cells",
    ],
  ] as [string, Uint8Array, string][])("%s", (_, bytes, why) =>
    refused(bytes, why, { kind: "range" }, { type: "table", rows: [] }),
  );
  it("a document that is asked for its sheets", () =>
    refused(LETTER, "is a document, not a workbook", { kind: "sheets" }, { type: "list", equals: [] }));
});

describe("a small office file that stands for a huge one", () => {
  const R = "xmlns:r='http://schemas.openxmlformats.org/officeDocument/2006/relationships'";
  const body = (inner: string, more: Record<string, string>) =>
    changed(LETTER, { "word/document.xml": `<document ${R}><body>${inner}</body></document>`, ...more });

  it("by fifty thousand paragraphs in as many lists is read in linear time", async () => {
    const paragraph = "<p><pPr><numPr><ilvl val='0'/><numId val='7'/></numPr></pPr></p>";
    const lists = Array.from(
      { length: 50_000 },
      (_, n) => `<num numId='${n + 100}'><abstractNumId val='1'/></num>`,
    );
    const file = body(paragraph.repeat(50_000), {
      "word/numbering.xml": `<numbering>${lists.join("")}</numbering>`,
    });
    await office(file, { kind: "document" }, { type: "json", path: "/paragraphs", length: 50_000 });
  });
  it("by one header in thousands of sections is refused", () =>
    refused(
      body("<p><pPr><sectPr><headerReference r:id='h'/></sectPr></pPr></p>".repeat(3_000), {
        "word/_rels/document.xml.rels":
          "<Relationships><Relationship Id='h' Type='x/header' Target='h.xml'/></Relationships>",
        "word/h.xml": `<hdr><p><r><t>${"x".repeat(100_000)}</t></r></p></hdr>`,
      }),
      "holds more than 16777216 characters",
      { kind: "document" },
    ));
  it("by cells that span a thousand columns each is refused", () =>
    refused(
      body(`<tbl>${"<tr><tc><tcPr><gridSpan val='1000'/></tcPr></tc></tr>".repeat(10_000)}</tbl>`, {}),
      "has a table of more than 200000 cells",
      { kind: "table" },
      { type: "table", rows: [] },
    ));
  it("by a long text in every cell is refused", () => {
    const row = (_: unknown, n: number) => `<row r="${n + 1}">${'<c t="s"><v>0</v></c>'.repeat(50)}</row>`;
    const file = changed(SALES, {
      "xl/worksheets/sheet1.xml": `<worksheet><sheetData>${Array.from({ length: 2_000 }, row).join("")}</sheetData></worksheet>`,
      "xl/sharedStrings.xml": `<sst><si><t>${"x".repeat(1_000_000)}</t></si></sst>`,
    });
    return refused(
      file,
      "holds more than 16777216 characters",
      { kind: "range" },
      { type: "table", rows: [] },
    );
  });
  it("by one slide shown two thousand times is refused", () =>
    refused(
      changed(TALK, {
        "ppt/presentation.xml": (text) =>
          text.replace(
            /(<p:sldIdLst>)(<p:sldId [^>]*>).*(<\/p:sldIdLst>)/s,
            (_, a: string, slide: string, z: string) => a + slide.repeat(2_000) + z,
          ),
      }),
      "shows one slide's part twice",
      { kind: "slides" },
      { type: "list", equals: [] },
    ));
});

describe("whatever became of an office file, it has a value or a fault:", () => {
  const common = { path: PATH, sheet: 1, table: 1, header: false, slide: 1, cell: "A1" };
  const of = (...kinds: string[]) =>
    kinds.map((kind) => ({ channel: "office", query: { ...common, kind } }) as never);
  const cases: [string, Uint8Array, RegExp, never[]][] = [
    [
      "sales.xlsx",
      SALES,
      /(sheet1|styles|sharedStrings|workbook|chart1|drawing1)\.xml(\.rels)?$/,
      of("sheet", "range", "cell", "style", "workbook"),
    ],
    [
      "letter.docx",
      LETTER,
      /(document|styles|numbering|header1)\.xml(\.rels)?$/,
      of("text", "document", "table"),
    ],
    [
      "talk.pptx",
      TALK,
      /(slide1|slide2|presentation|slideLayout1|chart\d+)\.xml(\.rels)?$/,
      of("slides", "slide"),
    ],
  ];
  it.each(cases)("%s, its bytes", (_, bytes, _parts, queries) => survivesMutation(bytes, queries, 60));
  it.each(cases)("%s, its parts", async (_, bytes, parts, queries) => {
    const files = unzipSync(bytes);
    const names = Object.keys(files).filter((name) => parts.test(name));
    const damaged = fc
      .constantFrom(...names)
      .chain((name) =>
        fc.tuple(fc.constant(name), mutated(files[name] ?? new Uint8Array()), fc.constantFrom(...queries)),
      );
    let values = 0;
    await fc.assert(
      fc.asyncProperty(damaged, async ([name, part, query]) => {
        const whole = zipSync({ ...files, [name]: part }, { level: 0 });
        const answer = await answerOrFault(query, whole);
        if (!("fault" in answer)) values++;
        expect(await answerOrFault(query, whole)).toEqual(answer);
      }),
      { numRuns: 120 },
    );
    // Both ends have been met: damage that is refused, and damage that leaves something to read.
    expect(values).toBeGreaterThan(0);
    expect(values).toBeLessThan(120);
  });
});
