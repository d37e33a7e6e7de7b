/** The text of OpenDocument paragraphs: white space as the format folds it, notes, comments and frames left out. */
import { TreeBudget } from "../../../parse/tree.js";
import { TEXT_NODE, type XmlNode } from "../../../parse/xml.js";
import { ContentFault } from "../../../value.js";

/** Elements within a paragraph that are no text of it. */
const APART = new Set(["annotation", "annotation-end", "note", "ruby-text", "frame", "tracked-changes"]);
/** Elements that only group blocks. */
const GROUPS = new Set([
  "section",
  "list",
  "list-item",
  "list-header",
  "numbered-paragraph",
  "table-of-content",
  "illustration-index",
  "table-index",
  "object-index",
  "user-index",
  "alphabetical-index",
  "bibliography",
  "index-body",
  "index-title",
]);
/** Spaces that one element may stand for. */
const SPACES_LIMIT = 10_000;
/** Stands for a space that is not folded: XML holds no such character. */
const KEPT_SPACE = "\0";

/** A piece of a paragraph, with the styles of the spans that hold it, the outermost first. */
export interface Piece {
  text: string;
  styles: readonly string[];
}

/** Texts of paragraphs, bounded all together. */
export class Texts {
  private readonly budget: TreeBudget;
  private readonly what: string;

  constructor(what: string) {
    this.what = what;
    this.budget = new TreeBudget(what);
  }

  /** A paragraph's text. */
  of(paragraph: XmlNode): string {
    return this.pieces(paragraph)
      .map(({ text }) => text)
      .join("");
  }

  /** A paragraph's text in pieces, white space folded over all of them: each run of it is one space, none at either end. */
  pieces(paragraph: XmlNode): Piece[] {
    const raw: Piece[] = [];
    this.collect(paragraph, [], raw);
    let afterSpace = true;
    const folded = raw.map(({ text, styles }) => {
      let out = "";
      for (const character of text) {
        if (character === " " && afterSpace) continue;
        afterSpace = character === " ";
        out += character;
      }
      return { text: out, styles };
    });
    // Only the last space can be one too many, and it may be followed by pieces of nothing.
    const last = folded.findLast(({ text }) => text !== "");
    if (last !== undefined && last.text.endsWith(" ")) last.text = last.text.slice(0, -1);
    return folded.map(({ text, styles }) => ({ text: text.replaceAll(KEPT_SPACE, " "), styles }));
  }

  /** The text of everything within: one line a paragraph, tables included where they stand. */
  block(node: XmlNode): string {
    return blocksOf(node)
      .map((block) => (block.name === "table" ? this.rows(block) : this.of(block)))
      .join("\n");
  }

  private rows(table: XmlNode): string {
    return rowsOf(table)
      .map((row) =>
        row.children
          .filter(({ name }) => name === "table-cell")
          .map((cell) => this.block(cell))
          .join("\t"),
      )
      .join("\n");
  }

  private collect(node: XmlNode, styles: readonly string[], into: Piece[]): void {
    const add = (text: string): void => {
      into.push({ text: this.budget.text(text), styles });
    };
    for (const child of node.children) {
      switch (child.name) {
        case TEXT_NODE:
          add(child.text.replaceAll(/[ \t\r\n]+/g, " "));
          break;
        case "s":
          add(KEPT_SPACE.repeat(this.spaces(child)));
          break;
        case "tab":
          add("\t");
          break;
        case "line-break":
          add("\n");
          break;
        default: {
          if (APART.has(child.name)) break;
          const style = child.name === "span" ? child.attributes.get("style-name") : undefined;
          this.collect(child, style === undefined ? styles : [...styles, style], into);
        }
      }
    }
  }

  private spaces(node: XmlNode): number {
    const count = node.attributes.get("c") ?? "1";
    if (!/^\d{1,9}$/.test(count) || Number(count) > SPACES_LIMIT)
      throw new ContentFault(`${this.what} has ${count.slice(0, 20)} spaces in a row`);
    return Number(count);
  }
}

export const isParagraph = ({ name }: XmlNode): boolean => name === "p" || name === "h";

/** Paragraphs and tables within, groups opened. */
export function blocksOf(node: XmlNode): XmlNode[] {
  return node.children.flatMap((child) => {
    if (isParagraph(child) || child.name === "table") return [child];
    return GROUPS.has(child.name) ? blocksOf(child) : [];
  });
}

/** Rows of a table, those of its header and of groups included. */
export function rowsOf(table: XmlNode): XmlNode[] {
  return table.children.flatMap((child) => {
    if (child.name === "table-row") return [child];
    return ["table-header-rows", "table-rows", "table-row-group"].includes(child.name) ? rowsOf(child) : [];
  });
}
