/** Documents of Word. */
import { afterAll, describe, it } from "vitest";
import { closePool } from "../../../../src/verifiers/index.js";
import { changed, json, LETTER, office } from "./support.js";

afterAll(closePool);

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
