/** OpenDocument: texts and workbooks, as odfpy wrote them, and by hand where they lie. */
import { unzipSync, zipSync } from "fflate";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { closePool } from "../../../../src/verifiers/index.js";
import { answerOrFault, fixture, survivesMutation } from "../documents.js";
import { mutated } from "../support.js";
import { absent, changed, json, office, PATH, refused, SALES as XLSX } from "./support.js";

afterAll(closePool);

const LETTER = fixture("letter.odt");
const SALES = fixture("sales.ods");

describe("an OpenDocument text", () => {
  it("has text, paragraphs and tables, white space folded, notes and comments left out", async () => {
    const paragraphs = [
      "Report",
      "Plain, bold and italic   \ta link",
      "first",
      "goes on",
      "below",
      "after the table",
    ];
    await office(LETTER, { kind: "paragraphs" }, { type: "list", equals: paragraphs });
    const text = [...paragraphs.slice(0, 5), "Item\tCount\tNote", "bolt\tnone left", "after the table"].join(
      "\n",
    );
    await office(LETTER, { kind: "text" }, { type: "text", equals: text });
    await office(
      LETTER,
      { kind: "table", header: true },
      { type: "table", columns: ["Item", "Count", "Note"], rows: [["bolt", "none left", null]] },
    );
  });

  it("has headings, places and lists through its styles", async () => {
    const at = (path: string, equals: unknown) =>
      json(LETTER, { kind: "document" }, `/paragraphs${path}`, equals);
    await at("/0/style", "Heading 1");
    await at("/0/level", 1);
    await at("/0/alignment", "center");
    await at("/0/page_break_before", true);
    await at("/0/spacing", { before: 283 });
    await at("/2/list", { level: 0, format: "decimal" });
    await at("/3/list", null);
    await at("/4/list", { level: 1, format: "bullet" });
  });

  it("has the look of every run, wherever it comes from", async () => {
    const run = (place: string, equals: object) =>
      office(LETTER, { kind: "document" }, { type: "json", path: `/paragraphs/${place}`, subset: equals });
    await run("0/runs/0", { text: "Report", bold: true, size: 18 });
    await run("1/runs/1", { text: "bold", bold: true, italic: false, color: "FF0000", font: "Arial" });
    await run("1/runs/3", { text: "italic ", italic: true, underline: "single" });
  });

  it("has what is beside its text", async () => {
    const at = (path: string, equals: unknown) => json(LETTER, { kind: "document" }, path, equals);
    await at("/links", [{ text: "a link", target: "https://example.org/" }]);
    await at("/comments", [{ author: "Bob", text: "really?" }]);
    await at("/images", [{ part: "Pictures/dot.png", alt: null, width: 914_400, height: 914_400 }]);
    await at("/sections/0/footers", { default: "the footer" });
    await at("/sections/0/margins/left", 1_440);
    await at("/tables", 1);
  });

  it("is read as it stands with its changes: what was deleted is gone", async () => {
    const tracked =
      "<text:tracked-changes><text:changed-region><text:deletion><text:p>gone</text:p></text:deletion></text:changed-region></text:tracked-changes>";
    const file = changed(LETTER, {
      "content.xml": (text) => text.replace("<office:text>", `<office:text>${tracked}`),
    });
    await office(file, { kind: "text" }, { type: "text", excludes: "gone" });
    await json(file, { kind: "document" }, "/deletions", 1);
  });

  it("is the same whatever its prefixes are called", async () => {
    const renamed = (text: string) =>
      text.replace(/xmlns:(fo|style)=/g, "xmlns:my$1=").replace(/([ </])(fo|style):/g, "$1my$2:");
    const file = changed(LETTER, { "content.xml": renamed, "styles.xml": renamed });
    await json(file, { kind: "document" }, "/paragraphs/0/alignment", "center");
  });
});

describe("an OpenDocument workbook", () => {
  it("has sheets, names, and cells with the value that its application stored", async () => {
    await office(SALES, { kind: "sheets" }, { type: "list", equals: ["Data", "Secret"] });
    await json(SALES, { kind: "workbook" }, "/sheets/1/state", "hidden");
    await json(SALES, { kind: "workbook" }, "/names/0/refers_to", "$Data.$C$5");
    await office(SALES, { kind: "cell_number", cell: "C5" }, { type: "number", equals: 600.75 });
    await office(SALES, { kind: "formula", cell: "C5" }, { type: "text", equals: "=SUM([.C2:.C4])" });
    await office(SALES, { kind: "cell_text", cell: "A7" }, { type: "text", equals: "two lines\nin a cell" });
    const cell = (name: string, equals: object) =>
      json(SALES, { kind: "cell", cell: name }, "", { formula: null, date: null, ...equals });
    await cell("D2", { type: "date", value: "2024-01-01", format: "date", date: "2024-01-01" });
    await cell("C3", { type: "number", value: 200, format: "currency EUR" });
    await cell("A6", { type: "boolean", value: true, format: "boolean" });
    await cell("B6", { type: "number", value: 0.5, format: "percentage" });
  });

  it("has ranges as tables, repeated cells each in its place", async () => {
    await office(
      SALES,
      { kind: "range", header: true, range: "A1:D5" },
      {
        type: "table",
        columns: ["Region", "Quarter", "Amount", "Day"],
        rows: [
          ["North", "Q1", 100.5, "2024-01-01"],
          ["South", "Q1", 200, null],
          ["North", "Q1", 300.25, null],
          ["Sum", null, 600.75, null],
        ],
      },
    );
    await office(SALES, { kind: "range", range: "B7:E7" }, { type: "table", rows: [[7, 7, 7, null]] });
    await office(SALES, { kind: "range", sheet: "Secret" }, { type: "table", columns: ["A"], rows: [[1]] });
  });

  it("has what its sheets hold beside cells", () =>
    json(SALES, { kind: "sheet" }, "", {
      name: "Data",
      state: "visible",
      kind: "worksheet",
      merged: ["A5:B5"],
      hidden_rows: [4],
      hidden_columns: ["B"],
      auto_filter: null,
      protected: false,
      comments: [{ cell: "A7", author: "Bob", text: "why?" }],
      links: [],
      charts: 0,
      images: 0,
    }));

  it("has text and properties", async () => {
    await office(SALES, { kind: "text" }, { type: "text", contains: "Sum\t600.75\nTRUE\t0.5" });
    await office(
      SALES,
      { kind: "properties" },
      {
        type: "json",
        subset: {
          title: "Sales",
          author: "Ada Lovelace",
          created: "2024-01-01T00:00:00",
          modified: "2024-01-02T00:00:00",
          keywords: "one, two",
          custom: { Reviewed: "yes" },
        },
      },
    );
  });

  it("lacks sheets, cells and formulas that are not there, which fails", async () => {
    await absent(SALES, { kind: "sheet", sheet: 3 }, " has no sheet 3");
    await absent(SALES, { kind: "cell", cell: "Z99" }, ": Data!Z99 is empty");
  });

  it("is ungraded where a value is of another type, or not there yet: nothing is converted", async () => {
    const number = { type: "number", equals: 0 };
    await refused(
      SALES,
      "C6 holds a formula without a stored value",
      { kind: "cell_number", cell: "C6" },
      number,
    );
    await refused(
      SALES,
      "C6 holds a formula without a stored value",
      { kind: "range" },
      { type: "table", rows: [] },
    );
    await refused(SALES, "D2 holds a date, not a number", { kind: "cell_number", cell: "D2" }, number);
    const failed = changed(SALES, {
      "content.xml": (text) =>
        text
          .replace(
            "<office:document-content ",
            '<office:document-content xmlns:calcext="urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0" ',
          )
          .replace(
            'office:value-type="float" table:number-columns-repeated="3" office:value="7"><text:p>7',
            'office:value-type="string" calcext:value-type="error"><text:p>#DIV/0!',
          ),
    });
    await refused(
      failed,
      "B7 holds the error #DIV/0!, not a number",
      { kind: "cell_number", cell: "B7" },
      number,
    );
  });
});

describe("an OpenDocument file is refused:", () => {
  const content = (file: Uint8Array, change: (text: string) => string) =>
    changed(file, { "content.xml": change });
  const sheet = (rows: string) =>
    content(SALES, (text) =>
      text.replace(
        /<table:table table:name="Data">.*?<\/table:table>/,
        `<table:table table:name="Data">${rows}</table:table>`,
      ),
    );
  const cell = (more: string) =>
    `<table:table-row><table:table-cell office:value-type="string" ${more}><text:p>x</text:p></table:table-cell></table:table-row>`;

  it.each([
    [
      "a presentation",
      changed(LETTER, { mimetype: "application/vnd.oasis.opendocument.presentation" }),
      'opendocument.presentation", which is not read',
    ],
    [
      "a type of nobody's",
      changed(LETTER, { mimetype: "x".repeat(300) }),
      "does not say what OpenDocument it is",
    ],
    [
      "one with a password",
      changed(LETTER, {
        "META-INF/manifest.xml": (text) =>
          text.replace("</manifest:manifest>", "<manifest:encryption-data/></manifest:manifest>"),
      }),
      "has a password",
    ],
    ["one that is Office Open XML too", zipSync({ ...unzipSync(XLSX), ...unzipSync(SALES) }), "at once"],
  ] as [string, Uint8Array, string][])("%s", (_, bytes, why) => refused(bytes, why));

  it.each([
    ["no content", changed(LETTER, { "content.xml": null }), "lacks its part content.xml"],
    [
      "no body",
      content(LETTER, (text) => text.replace(/<office:body>.*<\/office:body>/s, "")),
      "without a body",
    ],
    [
      "a billion laughs",
      content(LETTER, (text) =>
        text.replace("<office:document-content", '<!DOCTYPE x [<!ENTITY a "ha">]><office:document-content'),
      ),
      "declares a document type",
    ],
    [
      "spaces without end",
      content(LETTER, (text) => text.replace('text:c="2"', 'text:c="99999999"')),
      "99999999 spaces in a row",
    ],
    [
      "spaces by the million",
      content(LETTER, (text) => text.replace("<text:tab/>", '<text:s text:c="10000"/>'.repeat(2_000))),
      "more than 16777216 characters",
    ],
    [
      "half a million pieces of text",
      content(LETTER, (text) => text.replace("<text:tab/>", "a<text:tab/>".repeat(250_000))),
      "more than 400000 elements",
    ],
  ] as [string, Uint8Array, string][])("a text with %s", (_, bytes, why) =>
    refused(bytes, why, { kind: "text" }, { type: "text", equals: "" }),
  );

  it.each([
    [
      "a cell in a million places",
      sheet(cell('table:number-columns-repeated="16384"').repeat(100)),
      "more than 200000 cells",
    ],
    [
      "rows beyond all sheets",
      sheet(cell("").replace("<table:table-row", '<table:table-row table:number-rows-repeated="99999999"')),
      "has more rows than a sheet",
    ],
    [
      "a count that is none",
      sheet(cell('table:number-columns-repeated="-1"')),
      'has "-1" rows or columns alike',
    ],
    [
      "cells too far apart for one table",
      sheet(`${cell("")}<table:table-row table:number-rows-repeated="1000000"/>${cell("")}`),
      "more than 200000 cells are asked for",
    ],
    ["a type that nobody knows", sheet(cell("").replace('"string"', '"colour"')), "unknown type colour"],
    [
      "a number that is none",
      sheet(cell('office:value="0x10"').replace('"string"', '"float"')),
      "is not a number",
    ],
    [
      "a table within a cell",
      sheet(cell("").replace("<text:p>", "<table:table/><text:p>")),
      "has a table that is no sheet",
    ],
  ] as [string, Uint8Array, string][])("a workbook with %s", (_, bytes, why) =>
    refused(bytes, why, { kind: "range" }, { type: "table", rows: [] }),
  );

  it("a table of a document that repeats its cells beyond all bounds", () =>
    refused(
      content(LETTER, (text) =>
        text.replace(
          "<table:table-row>",
          `<table:table-row table:number-rows-repeated="1000"><table:table-cell table:number-columns-repeated="1000"/></table:table-row><table:table-row>`,
        ),
      ),
      "has a table of more than 200000 cells",
      { kind: "table" },
      { type: "table", rows: [] },
    ));

  it("a workbook that is asked for the look of a cell, or for slides", async () => {
    await refused(SALES, "of which no style is read", { kind: "style", cell: "A1" });
    await refused(SALES, "is a workbook, not a presentation", { kind: "slide", slide: 1 });
  });

  it("but not for a sheet that nobody asked for", async () => {
    const file = sheet(cell('table:number-columns-repeated="16384"').repeat(100));
    await office(file, { kind: "range", sheet: "Secret" }, { type: "table", rows: [[1]] });
  });
});

describe("whatever became of an OpenDocument file, it has a value or a fault:", () => {
  const common = { path: PATH, sheet: 1, table: 1, header: false, cell: "C5" };
  const of = (...kinds: string[]) =>
    kinds.map((kind) => ({ channel: "office", query: { ...common, kind } }) as never);
  const cases: [string, Uint8Array, never[]][] = [
    ["letter.odt", LETTER, of("text", "document", "table", "properties")],
    ["sales.ods", SALES, of("range", "sheet", "cell", "workbook", "text")],
  ];
  it.each(cases)("%s, its bytes", (_, bytes, queries) => survivesMutation(bytes, queries, 60));
  it.each(cases)("%s, its parts", async (_, bytes, queries) => {
    const files = unzipSync(bytes);
    const names = Object.keys(files).filter((name) => name.endsWith(".xml"));
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
    expect(values).toBeGreaterThan(0);
    expect(values).toBeLessThan(120);
  });
});
