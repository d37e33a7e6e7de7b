/** How OpenDocument text looks after all its layers: defaults, named styles and those they are based on, spans. */
import { childOf, childrenOf, type XmlNode } from "../../../parse/xml.js";
import type { ParagraphLook, TextLook } from "../docx/styles.js";
import type { OpenDocument } from "./file.js";
import { percent, twips } from "./lengths.js";

/** Styles that one may be based on in a row. */
const CHAIN_LIMIT = 32;

const ALIGNMENTS: Readonly<Record<string, string>> = { start: "left", end: "right", justify: "both" };
const UNDERLINES: Readonly<Record<string, string>> = { solid: "single" };

type Known<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

function known<T extends object>(fields: { [Key in keyof T]: T[Key] | undefined }): Known<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Known<T>;
}

/** What a style says of its text; `below` is what it is based on, of which a size may be a share. */
function textLook(style: XmlNode | undefined, below: TextLook): TextLook {
  const get = (name: string): string | undefined => childOf(style, "text-properties")?.attributes.get(name);
  const share = percent(get("fo:font-size"));
  const length = twips(get("fo:font-size"));
  const weight = get("fo:font-weight");
  const slant = get("fo:font-style");
  const line = get("text-line-through-style") ?? get("text-line-through-type");
  const underline = get("text-underline-style");
  const double = get("text-underline-type") === "double";
  const position = get("text-position");
  const background = get("fo:background-color");
  return known<TextLook>({
    bold: weight === undefined ? undefined : weight === "bold" || Number(weight) >= 600,
    italic: slant === undefined ? undefined : slant !== "normal",
    strike: line === undefined ? undefined : line !== "none",
    underline: underline === undefined ? undefined : double ? "double" : (UNDERLINES[underline] ?? underline),
    font: get("font-name") ?? get("fo:font-family"),
    size: share === undefined || below.size === undefined ? length && length / 20 : share * below.size,
    color: hex(get("fo:color")),
    highlight: background === "transparent" ? "none" : hex(background),
    vertical: position === undefined ? undefined : verticalOf(position),
  });
}

const hex = (color: string | undefined): string | undefined =>
  color === undefined ? undefined : color.replace(/^#/, "").toUpperCase();

/** `super 58%`, or how far the text is raised: `33% 58%`. */
function verticalOf(position: string): string {
  const [raised = ""] = position.split(" ");
  if (raised === "super" || /^[1-9]/.test(raised)) return "superscript";
  return raised === "sub" || raised.startsWith("-") ? "subscript" : "baseline";
}

function paragraphLook(style: XmlNode | undefined): ParagraphLook {
  const get = (name: string): string | undefined =>
    childOf(style, "paragraph-properties")?.attributes.get(name);
  const align = get("fo:text-align");
  const share = percent(get("fo:line-height"));
  const before = get("fo:break-before");
  const level = Number(style?.attributes.get("default-outline-level") ?? 0);
  return known<ParagraphLook>({
    alignment: align === undefined ? undefined : (ALIGNMENTS[align] ?? align),
    level: level >= 1 && level <= 10 ? level : undefined,
    page_break_before: before === undefined ? undefined : before === "page",
    spacing: known<NonNullable<ParagraphLook["spacing"]>>({
      before: twips(get("fo:margin-top")),
      after: twips(get("fo:margin-bottom")),
      line: share === undefined ? twips(get("fo:line-height")) : Math.round(share * 240),
    }),
    indent: known<NonNullable<ParagraphLook["indent"]>>({
      left: twips(get("fo:margin-left")),
      right: twips(get("fo:margin-right")),
      first: twips(get("fo:text-indent")),
    }),
  });
}

export class OpenDocumentStyles {
  /** By family and name. */
  private readonly styles = new Map<string, XmlNode>();
  /** Those that an application made for single paragraphs and spans. */
  private readonly automatic: ReadonlySet<XmlNode>;
  private readonly defaults = new Map<string, XmlNode>();
  private readonly lists = new Map<string, XmlNode>();
  private readonly looks = new Map<string, { text: TextLook; paragraph: ParagraphLook }>();

  /** Styles of the content come before those of `styles.xml`, which it may use. */
  constructor(file: OpenDocument, content: XmlNode) {
    this.automatic = new Set(childOf(content, "automatic-styles")?.children);
    const shared = file.has("styles.xml") ? file.xml("styles.xml") : undefined;
    for (const holder of [childOf(shared, "styles"), childOf(content, "automatic-styles")]) {
      for (const style of childrenOf(holder, "style")) this.styles.set(keyOf(style), style);
      for (const style of childrenOf(holder, "default-style"))
        this.defaults.set(style.attributes.get("family") ?? "", style);
      for (const list of childrenOf(holder, "list-style"))
        this.lists.set(list.attributes.get("style:name") ?? "", list);
    }
  }

  /** A style's own element, to see what is not text. */
  style(family: string, name: string | undefined): XmlNode | undefined {
    return name === undefined ? undefined : this.styles.get(`${family}/${name}`);
  }

  /** The style of a paragraph by the name that people see: of one that is only there for this paragraph, what it is based on. */
  nameOf(paragraph: XmlNode): string | null {
    const name = paragraph.attributes.get("style-name");
    const chain = this.chain("paragraph", name);
    const shown = chain.findLast((style) => !this.automatic.has(style));
    return shown?.attributes.get("display-name") ?? shown?.attributes.get("name") ?? name ?? null;
  }

  paragraph(paragraph: XmlNode): ParagraphLook {
    return this.look("paragraph", paragraph.attributes.get("style-name")).paragraph;
  }

  /** The look of a piece of a paragraph's text. */
  run(paragraph: XmlNode, spans: readonly string[]): TextLook {
    let look = this.look("paragraph", paragraph.attributes.get("style-name")).text;
    for (const span of spans)
      for (const style of this.chain("text", span)) look = { ...look, ...textLook(style, look) };
    return look;
  }

  /** How a level of a list is numbered, in the words of Office Open XML; levels count from 1. */
  listFormat(name: string | undefined, level: number): string | null {
    const list = this.lists.get(name ?? "");
    const found = list?.children.find(({ attributes }) => attributes.get("level") === String(level));
    if (found === undefined) return null;
    if (found.name !== "list-level-style-number") return "bullet";
    const format = found.attributes.get("style:num-format") ?? found.attributes.get("num-format") ?? "";
    return FORMATS[format] ?? null;
  }

  private look(family: string, name: string | undefined): { text: TextLook; paragraph: ParagraphLook } {
    const key = `${family}/${name ?? ""}`;
    const seen = this.looks.get(key);
    if (seen !== undefined) return seen;
    const base = this.defaults.get(family);
    let text = textLook(base, {});
    let paragraph = paragraphLook(base);
    for (const style of this.chain(family, name)) {
      text = { ...text, ...textLook(style, text) };
      const own = paragraphLook(style);
      paragraph = {
        ...paragraph,
        ...own,
        spacing: { ...paragraph.spacing, ...own.spacing },
        indent: { ...paragraph.indent, ...own.indent },
      };
    }
    const look = { text, paragraph };
    this.looks.set(key, look);
    return look;
  }

  /** A style and those that it is based on, the deepest first. A circle ends where it closes. */
  private chain(family: string, name: string | undefined): XmlNode[] {
    const found: XmlNode[] = [];
    let next = this.style(family, name);
    while (next !== undefined && !found.includes(next) && found.length < CHAIN_LIMIT) {
      found.unshift(next);
      next = this.style(family, next.attributes.get("parent-style-name"));
    }
    return found;
  }
}

const FORMATS: Readonly<Record<string, string>> = {
  "1": "decimal",
  a: "lowerLetter",
  A: "upperLetter",
  i: "lowerRoman",
  I: "upperRoman",
};

function keyOf({ attributes }: XmlNode): string {
  return `${attributes.get("family") ?? ""}/${attributes.get("name") ?? ""}`;
}
