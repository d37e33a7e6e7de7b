/** The text of a document: what a reader sees, deletions that are tracked left out. */
import type { XmlNode } from "../../../parse/xml.js";

/** Elements that only group what lies within. */
const GROUPS = new Set([
  "sdt",
  "sdtContent",
  "customXml",
  "smartTag",
  "ins",
  "moveTo",
  "hyperlink",
  "fldSimple",
  "dir",
  "bdo",
]);

const CHARACTERS: Readonly<Record<string, string>> = {
  tab: "\t",
  br: "\n",
  cr: "\n",
  noBreakHyphen: "-",
  softHyphen: "",
};

/** Paragraphs and tables within, groups opened. */
export function blocksOf(node: XmlNode): XmlNode[] {
  return node.children.flatMap((child) => {
    if (child.name === "p" || child.name === "tbl") return [child];
    return GROUPS.has(child.name) ? blocksOf(child) : [];
  });
}

/** Runs of a paragraph, groups opened. */
export function runsOf(node: XmlNode): XmlNode[] {
  return node.children.flatMap((child) => {
    if (child.name === "r") return [child];
    return GROUPS.has(child.name) ? runsOf(child) : [];
  });
}

/** A run's own text; text boxes that hang on it are none of it. */
export function runText(run: XmlNode): string {
  return run.children
    .map((child) => (child.name === "t" ? child.text : (CHARACTERS[child.name] ?? "")))
    .join("");
}

export function paragraphText(paragraph: XmlNode): string {
  return runsOf(paragraph).map(runText).join("");
}

/** Rows of a table, groups opened. */
function within(node: XmlNode, name: string): XmlNode[] {
  return node.children.flatMap((child) => {
    if (child.name === name) return [child];
    return GROUPS.has(child.name) ? within(child, name) : [];
  });
}

/** Every cell of a table, row by row. */
export function cellsOf(table: XmlNode): XmlNode[][] {
  return within(table, "tr").map((row) => within(row, "tc"));
}

/** The text of everything within: one line a paragraph, tables included where they stand. */
export function blockText(node: XmlNode): string {
  return blocksOf(node)
    .map((block) =>
      block.name === "p"
        ? paragraphText(block)
        : cellsOf(block)
            .map((row) => row.map(blockText).join("\t"))
            .join("\n"),
    )
    .join("\n");
}
