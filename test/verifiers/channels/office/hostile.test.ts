/** Office files that are damaged, lie, or stand for huge ones. */
import { unzipSync, zipSync } from "fflate";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { closePool } from "../../../../src/verifiers/index.js";
import { answerOrFault, survivesMutation } from "../documents.js";
import { mutated } from "../support.js";
import { changed, LETTER, office, PATH, PLAIN, refused, SALES, TALK } from "./support.js";

afterAll(closePool);

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
