import { deflateSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { closePool } from "../../../src/verifiers/index.js";
import { answerOrFault, faults, fixture, holds, survivesMutation } from "./documents.js";
import { check } from "./support.js";

afterAll(closePool);

const PATH = "/home/agent/report.pdf";
const report = fixture("report.pdf");
const pdf = (query: object, assert: object, bytes: Uint8Array = report) =>
  holds("pdf", { path: PATH, ...query }, assert, { [PATH]: bytes });
const refused = (bytes: Uint8Array, why: string) =>
  faults("pdf", { kind: "text", path: PATH }, { type: "text", equals: "x" }, { [PATH]: bytes }, why);

/** A PDF of one page by hand, whose content stream is given as it lies in the file. */
function onePage(stream: Uint8Array, filter = "", extra: string[] = []): Uint8Array {
  const objects = [
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F1 5 0 R/F2 6 0 R>>>>>>",
    "",
    "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ...extra,
  ];
  const parts: Buffer[] = [Buffer.from("%PDF-1.4\n")];
  const offsets: number[] = [];
  let at = 9;
  objects.forEach((object, index) => {
    const body =
      index === 3
        ? Buffer.concat([
            Buffer.from(`<</Length ${stream.length}${filter}>>stream\n`),
            stream,
            Buffer.from("\nendstream"),
          ])
        : Buffer.from(object);
    const whole = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), body, Buffer.from("\nendobj\n")]);
    offsets.push(at);
    at += whole.length;
    parts.push(whole);
  });
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const tail = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${at}\n%%EOF\n`;
  return Buffer.concat([...parts, Buffer.from(tail)]);
}

describe("a PDF of reportlab's", () => {
  it("has text, its pages apart by a form feed", () =>
    pdf(
      { kind: "text" },
      { type: "text", equals: "Total: 1,234.50 EUR\nsecond line right column\fPage two: Grüße" },
    ));
  it("has text and lines of one page, counted from 1", async () => {
    await pdf({ kind: "text", page: 2 }, { type: "text", equals: "Page two: Grüße" });
    await pdf(
      { kind: "lines", page: 1 },
      { type: "list", equals: ["Total: 1,234.50 EUR", "second line right column"] },
    );
    await pdf({ kind: "lines" }, { type: "list", length: { equals: 3 } });
  });
  it("has a number of pages", () => pdf({ kind: "pages" }, { type: "number", equals: 2 }));
  it("says what it is", () =>
    pdf(
      { kind: "info" },
      {
        type: "json",
        subset: {
          title: "Quarterly report",
          author: "Ada Lovelace",
          subject: "Sales",
          keywords: "sales, 2024",
          created: "D:20000101000000+00'00'",
          version: "1.3",
          pages: 2,
        },
      },
    ));
  it("has the values of its form", () =>
    pdf({ kind: "fields" }, { type: "json", equals: { customer: "Acme Ltd", paid: "Yes" } }));
  it("lacks a page beyond its last, which fails", async () => {
    const { status, evidence } = await check(
      "pdf",
      { kind: "text", path: PATH, page: 3 },
      { type: "text", equals: "x" },
      { files: { [PATH]: report } },
    );
    expect([status, evidence]).toEqual(["failed", `${PATH} has 2 pages and no page 3`]);
  });
});

describe("a PDF is refused:", () => {
  it("one with a password", () => refused(fixture("locked.pdf"), "No password given"));
  it("something else", () => refused(Buffer.from("PK\x03\x04"), "is no PDF"));
  it("an empty file", () => refused(new Uint8Array(), "is no PDF"));
  it("one without any object", () => refused(Buffer.from("%PDF-1.7\n%%EOF"), "is not a readable PDF"));

  it("a bomb, whose page of half a megabyte expands to half a gigabyte", async () => {
    const page = onePage(deflateSync(Buffer.alloc(2 ** 29, " ")), "/Filter/FlateDecode");
    expect(page.length).toBeLessThan(2 ** 20);
    await refused(page, "needs more than 536870912 bytes to be read");
  });
  it("one whose text is in an encoding that it does not explain, instead of being read without it", () =>
    refused(
      onePage(Buffer.from("BT /F1 12 Tf 72 700 Td (Hello) Tj /F2 12 Tf <4F60597D> Tj ET"), "", [
        "<</Type/Font/Subtype/Type0/BaseFont/STSong-Light/Encoding/UniGB-UCS2-H/DescendantFonts[7 0 R]>>",
        "<</Type/Font/Subtype/CIDFontType0/BaseFont/STSong-Light/CIDSystemInfo<</Registry(Adobe)/Ordering(GB1)/Supplement 2>>/DW 1000/FontDescriptor 8 0 R>>",
        "<</Type/FontDescriptor/FontName/STSong-Light/Flags 4/FontBBox[-25 -254 1000 880]/ItalicAngle 0/Ascent 880/Descent -120/CapHeight 880/StemV 93>>",
      ]),
      "has text in the encoding UniGB-UCS2-H, whose table it does not hold",
    ));
  it("and the next one is read in the same thread as if nothing had been", () =>
    pdf(
      { kind: "text" },
      { type: "text", equals: "Hello" },
      onePage(Buffer.from("BT /F1 12 Tf 72 700 Td (Hello) Tj ET")),
    ));
  it("one whose pages are their own parents", async () => {
    const circle = Buffer.from(
      Buffer.from(onePage(Buffer.from("")))
        .toString("latin1")
        .replace("/Kids[3 0 R]", "/Kids[2 0 R]"),
      "latin1",
    );
    await refused(circle, "is not a readable PDF");
  });
});

describe("a PDF's scripts and references", () => {
  it("are neither run nor fetched: the text is the page's own", () =>
    pdf(
      { kind: "text" },
      { type: "text", equals: "Hello" },
      onePage(Buffer.from("BT /F1 12 Tf 72 700 Td (Hello) Tj ET"), "", [
        "<</S/JavaScript/JS(app.alert\\(1\\))>>",
        "<</S/URI/URI(http://127.0.0.1:1/)>>",
      ]),
    ));
});

describe("whatever became of a PDF's bytes, it has a value or a fault:", () => {
  const queries = [{ kind: "text" }, { kind: "pages" }, { kind: "info" }, { kind: "fields" }].map(
    (query) => ({ channel: "pdf", query: { path: PATH, ...query } }) as never,
  );
  it.each([
    ["reportlab's", report],
    ["with a password", fixture("locked.pdf")],
    [
      "by hand",
      onePage(deflateSync(Buffer.from("BT /F1 12 Tf 72 700 Td (Hello) Tj ET")), "/Filter/FlateDecode"),
    ],
  ])("%s", (_, bytes) => survivesMutation(bytes, queries, 120));

  it("and the bytes that it was given are as they were", async () => {
    const bytes = Uint8Array.from(report);
    await answerOrFault({ channel: "pdf", query: { kind: "pages", path: PATH } } as never, bytes);
    expect(Buffer.from(bytes).equals(Buffer.from(report))).toBe(true);
  });
});
