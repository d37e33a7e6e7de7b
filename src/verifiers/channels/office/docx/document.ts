/** A document as JSON: paragraphs with their runs, sections, images, links, comments. */
import type { Json } from "../../../assertions/schema.js";
import { childOf, childrenOf, findAll, type XmlNode } from "../../../parse/xml.js";
import { numberOf, type OfficePackage, wholeOf } from "../package.js";
import { blocksOf, blockText, paragraphText, runsOf, runText } from "./text.js";
import { mergedRuns } from "../runs.js";
import { DocumentStyles } from "./styles.js";

type Fields = { [key: string]: Json };

/** Levels of a list, and lists that share their levels. */
const LEVELS = 9;
const LISTS_OF_ONE = 1_000;

/**
 * `{paragraphs, sections, images, links, text_boxes, comments, tables, insertions, deletions}`. Paragraphs are those of the body, in
 * order, tables aside.
 */
export function describeDocument(file: OfficePackage, body: XmlNode): Json {
  const styles = new DocumentStyles(file);
  const formats = new ListFormats(file);
  const blocks = blocksOf(body);
  const paragraphs = blocks.filter(({ name }) => name === "p");
  return {
    paragraphs: paragraphs.map((paragraph) => paragraphOf(paragraph, styles, formats)),
    tables: blocks.length - paragraphs.length,
    sections: sectionsOf(file, body),
    images: findAll(body, "drawing").flatMap((drawing) => imageOf(file, drawing)),
    links: findAll(body, "hyperlink").map((link) => ({
      text: paragraphText(link),
      target:
        file.related(file.main, link.attributes.get("r:id"))?.target ?? link.attributes.get("anchor") ?? null,
    })),
    text_boxes: findAll(body, "txbxContent").map(blockText),
    comments: commentsOf(file),
    insertions: findAll(body, "ins").length,
    deletions: findAll(body, "del").length,
  };
}

function paragraphOf(paragraph: XmlNode, styles: DocumentStyles, formats: ListFormats): Json {
  const look = styles.paragraph(paragraph);
  const list = look.list === undefined || look.list.id === 0 ? null : look.list;
  return {
    text: paragraphText(paragraph),
    style: styles.nameOf(paragraph),
    level: look.level ?? null,
    alignment: look.alignment ?? "left",
    list: list === null ? null : { level: list.level, format: formats.of(list.id, list.level) },
    page_break_before: look.page_break_before ?? false,
    spacing: { ...look.spacing },
    indent: { ...look.indent },
    runs: mergedRuns(
      runsOf(paragraph).map((run) => ({ text: runText(run), look: styles.run(paragraph, run) })),
    ),
  };
}

function sectionsOf(file: OfficePackage, body: XmlNode): Json[] {
  // Sections share their headers.
  const texts = new Map<string, string>();
  const textOf = (part: string): string => {
    const text = texts.get(part) ?? blockText(file.xml(part));
    texts.set(part, text);
    return text;
  };
  return findAll(body, "sectPr").map((section) => sectionOf(file, section, textOf));
}

/** Page size and margins in twentieths of a point; headers and footers by the pages that they are for. */
function sectionOf(file: OfficePackage, section: XmlNode, textOf: (part: string) => string): Json {
  const size = childOf(section, "pgSz");
  const margins = childOf(section, "pgMar");
  const texts = (name: string): Fields => {
    const found: Fields = {};
    for (const { attributes } of childrenOf(section, name)) {
      const part = file.related(file.main, attributes.get("r:id"))?.target;
      if (part !== undefined) found[attributes.get("type") ?? "default"] = textOf(part);
    }
    return found;
  };
  const margin = (name: string): number | null => numberOf(margins, name) ?? null;
  return {
    width: numberOf(size, "w") ?? null,
    height: numberOf(size, "h") ?? null,
    orientation: size?.attributes.get("orient") ?? "portrait",
    margins: { top: margin("top"), right: margin("right"), bottom: margin("bottom"), left: margin("left") },
    columns: wholeOf(childOf(section, "cols"), "num") ?? 1,
    headers: texts("headerReference"),
    footers: texts("footerReference"),
  };
}

/** Sizes in English Metric Units, 914,400 to the inch. */
function imageOf(file: OfficePackage, drawing: XmlNode): Json[] {
  const [blip] = findAll(drawing, "blip");
  if (blip === undefined) return [];
  const [frame] = drawing.children;
  const extent = childOf(frame, "extent");
  return [
    {
      part: file.related(file.main, blip.attributes.get("r:embed"))?.target ?? null,
      alt: childOf(frame, "docPr")?.attributes.get("descr") ?? null,
      width: numberOf(extent, "cx") ?? null,
      height: numberOf(extent, "cy") ?? null,
    },
  ];
}

function commentsOf(file: OfficePackage): Json[] {
  const part = file.partOf(file.main, "comments");
  if (part === undefined) return [];
  return childrenOf(file.xml(part), "comment").map((comment) => ({
    author: comment.attributes.get("author") ?? null,
    text: blockText(comment),
  }));
}

/** How lists are numbered: `bullet`, `decimal`, ... */
class ListFormats {
  /** By the list's number and the level. */
  private readonly formats = new Map<string, string>();

  constructor(file: OfficePackage) {
    const part = file.partOf(file.main, "numbering");
    const numbering = part === undefined ? undefined : file.xml(part);
    const lists = new Map<number | undefined, number[]>();
    for (const list of childrenOf(numbering, "num")) {
      const shared = wholeOf(childOf(list, "abstractNumId"), "val");
      const id = wholeOf(list, "numId");
      if (id !== undefined) lists.set(shared, [...(lists.get(shared) ?? []), id].slice(0, LISTS_OF_ONE));
    }
    for (const abstract of childrenOf(numbering, "abstractNum")) {
      const ids = lists.get(wholeOf(abstract, "abstractNumId")) ?? [];
      for (const level of childrenOf(abstract, "lvl").slice(0, LEVELS)) {
        const format = childOf(level, "numFmt")?.attributes.get("val");
        if (format === undefined) continue;
        for (const id of ids) this.formats.set(`${id}/${wholeOf(level, "ilvl") ?? 0}`, format);
      }
    }
  }

  of(id: number, level: number): string | null {
    return this.formats.get(`${id}/${level}`) ?? null;
  }
}
