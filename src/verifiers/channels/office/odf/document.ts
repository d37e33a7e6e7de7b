/** An OpenDocument text as JSON, in the words in which a document of Word is told. */
import type { Json } from "../../../assertions/schema.js";
import { childOf, childrenOf, descend, findAll, TEXT_NODE, type XmlNode } from "../../../parse/xml.js";
import { mergedRuns } from "../runs.js";
import type { OpenDocument } from "./file.js";
import { emu } from "./lengths.js";
import { pagesOf } from "./pages.js";
import { OpenDocumentStyles } from "./styles.js";
import { blocksOf, isParagraph, Texts } from "./text.js";

interface ListPlace {
  /** Counted from 0, as Word does. */
  level: number;
  format: string | null;
}

/** `{paragraphs, tables, sections, images, links, text_boxes, comments, insertions, deletions}`. */
export function describeText(file: OpenDocument, content: XmlNode, body: XmlNode): Json {
  const styles = new OpenDocumentStyles(file, content);
  const texts = new Texts(file.what);
  const places = listPlaces(body, styles);
  const blocks = blocksOf(body);
  const changes = childOf(body, "tracked-changes");
  return {
    paragraphs: blocks.filter(isParagraph).map((one) => paragraphOf(one, styles, texts, places.get(one))),
    tables: blocks.filter(({ name }) => name === "table").length,
    sections: pagesOf(file, texts),
    images: findAll(body, "frame").flatMap(imageOf),
    links: findAll(body, "a").map((link) => ({
      text: texts.of(link),
      target: link.attributes.get("xlink:href") ?? null,
    })),
    text_boxes: findAll(body, "text-box").map((box) => texts.block(box)),
    comments: commentsOf(body, texts),
    insertions: findAll(changes, "insertion").length,
    deletions: findAll(changes, "deletion").length,
  };
}

function paragraphOf(
  paragraph: XmlNode,
  styles: OpenDocumentStyles,
  texts: Texts,
  list: ListPlace | undefined,
): Json {
  const look = styles.paragraph(paragraph);
  const pieces = texts.pieces(paragraph);
  const level = paragraph.name === "h" ? Number(paragraph.attributes.get("outline-level") ?? 1) : look.level;
  return {
    text: pieces.map(({ text }) => text).join(""),
    style: styles.nameOf(paragraph),
    level: level ?? null,
    alignment: look.alignment ?? "left",
    list: list === undefined ? null : { level: list.level, format: list.format },
    page_break_before: look.page_break_before ?? false,
    spacing: { ...look.spacing },
    indent: { ...look.indent },
    runs: mergedRuns(pieces.map(({ text, styles: spans }) => ({ text, look: styles.run(paragraph, spans) }))),
  };
}

/** Where in its list the first paragraph of each item stands; those that follow in the item have no number of their own. */
function listPlaces(body: XmlNode, styles: OpenDocumentStyles): Map<XmlNode, ListPlace> {
  const places = new Map<XmlNode, ListPlace>();
  const visit = (node: XmlNode, depth: number, style: string | undefined): void => {
    for (const child of node.children) {
      if (child.name === "list") visit(child, depth + 1, child.attributes.get("style-name") ?? style);
      else if (child.name === "list-item") {
        const first = child.children.find(({ name }) => name !== TEXT_NODE);
        if (first !== undefined && isParagraph(first))
          places.set(first, { level: depth - 1, format: styles.listFormat(style, depth) });
        visit(child, depth, style);
      } else if (!isParagraph(child)) visit(child, depth, style);
    }
  };
  visit(body, 0, undefined);
  return places;
}

/** Sizes in English Metric Units, 914,400 to the inch. */
function imageOf(frame: XmlNode): Json[] {
  const image = childOf(frame, "image");
  if (image === undefined) return [];
  const alt = childOf(frame, "desc") ?? childOf(frame, "title");
  return [
    {
      part: image.attributes.get("xlink:href") ?? null,
      alt: alt?.text ?? null,
      width: emu(frame.attributes.get("svg:width")) ?? null,
      height: emu(frame.attributes.get("svg:height")) ?? null,
    },
  ];
}

/** Comments with who wrote them. */
export function commentsOf(node: XmlNode, texts: Texts): Json[] {
  return findAll(node, "annotation").map((comment) => ({
    author: descend(comment, "creator")?.text ?? null,
    text: childrenOf(comment, "p")
      .map((paragraph) => texts.of(paragraph))
      .join("\n"),
  }));
}
