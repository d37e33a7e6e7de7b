/**
 * How a document's text looks after all its layers: the defaults, the paragraph's style and those that it is based on, the
 * character's style likewise, and what is set directly. A later layer wins; bold, italic and strike of the two styles undo each other,
 * as the format has it.
 */
import { childOf, childrenOf, descend, type XmlNode } from "../../../parse/xml.js";
import { isOn, numberOf, type OfficePackage, wholeOf } from "../package.js";

/** Styles that one may be based on in a row. */
const CHAIN_LIMIT = 32;
const TOGGLES = ["bold", "italic", "strike"] as const;

export interface TextLook {
  bold?: boolean;
  italic?: boolean;
  strike?: boolean;
  underline?: string;
  font?: string;
  /** Points. */
  size?: number;
  color?: string;
  highlight?: string;
  vertical?: string;
}

export interface ParagraphLook {
  alignment?: string;
  /** Outline level, 1 for the highest heading. */
  level?: number;
  list?: { id: number; level: number };
  page_break_before?: boolean;
  /** Twentieths of a point, or 240ths of a line. */
  spacing?: { before?: number; after?: number; line?: number };
  /** Twentieths of a point. */
  indent?: { left?: number; right?: number; first?: number };
}

/** The keys of a record that are known. */
function known<T extends object>(fields: { [Key in keyof T]: T[Key] | undefined }): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}

function textLook(rPr: XmlNode | undefined): TextLook {
  const value = (name: string): string | undefined => childOf(rPr, name)?.attributes.get("val");
  const fonts = childOf(rPr, "rFonts")?.attributes;
  const theme = fonts?.get("asciiTheme");
  const size = numberOf(childOf(rPr, "sz"), "val");
  return known<TextLook>({
    bold: isOn(childOf(rPr, "b")),
    italic: isOn(childOf(rPr, "i")),
    strike: isOn(childOf(rPr, "strike")),
    underline: value("u"),
    font: fonts?.get("ascii") ?? fonts?.get("hAnsi") ?? (theme === undefined ? undefined : `theme:${theme}`),
    size: size === undefined ? undefined : size / 2,
    color: value("color"),
    highlight: value("highlight"),
    vertical: value("vertAlign"),
  });
}

function paragraphLook(pPr: XmlNode | undefined): ParagraphLook {
  const outline = wholeOf(childOf(pPr, "outlineLvl"), "val");
  const list = childOf(pPr, "numPr");
  const id = wholeOf(childOf(list, "numId"), "val");
  const spacing = childOf(pPr, "spacing");
  const indent = childOf(pPr, "ind");
  return known<ParagraphLook>({
    alignment: childOf(pPr, "jc")?.attributes.get("val"),
    level: outline === undefined || outline > 8 ? undefined : outline + 1,
    list: id === undefined ? undefined : { id, level: wholeOf(childOf(list, "ilvl"), "val") ?? 0 },
    page_break_before: isOn(childOf(pPr, "pageBreakBefore")),
    spacing:
      spacing &&
      known<NonNullable<ParagraphLook["spacing"]>>({
        before: numberOf(spacing, "before"),
        after: numberOf(spacing, "after"),
        line: numberOf(spacing, "line"),
      }),
    indent:
      indent &&
      known<NonNullable<ParagraphLook["indent"]>>({
        left: numberOf(indent, "left") ?? numberOf(indent, "start"),
        right: numberOf(indent, "right") ?? numberOf(indent, "end"),
        first: numberOf(indent, "firstLine") ?? negative(numberOf(indent, "hanging")),
      }),
  });
}

function negative(value: number | undefined): number | undefined {
  return value === undefined ? undefined : -value;
}

function layered(layers: readonly ParagraphLook[]): ParagraphLook {
  return layers.reduce<ParagraphLook>((below, layer) => {
    const spacing = { ...below.spacing, ...layer.spacing };
    const indent = { ...below.indent, ...layer.indent };
    return { ...below, ...layer, spacing, indent };
  }, {});
}

export class DocumentStyles {
  private readonly styles = new Map<string, XmlNode>();
  private readonly defaults: { text: TextLook; paragraph: ParagraphLook };
  private readonly normal: string | undefined;
  private readonly looks = new Map<string | undefined, { text: TextLook; paragraph: ParagraphLook }>();

  constructor(file: OfficePackage) {
    const part = file.partOf(file.main, "styles");
    const root = part === undefined ? undefined : file.xml(part);
    for (const style of childrenOf(root, "style")) {
      const id = style.attributes.get("styleId");
      if (id !== undefined) this.styles.set(id, style);
    }
    const isNormal = (style: XmlNode): boolean =>
      style.attributes.get("type") === "paragraph" &&
      ["1", "true"].includes(style.attributes.get("default") ?? "");
    this.normal = [...this.styles].find(([, style]) => isNormal(style))?.[0];
    this.defaults = {
      text: textLook(descend(root, "docDefaults", "rPrDefault", "rPr")),
      paragraph: paragraphLook(descend(root, "docDefaults", "pPrDefault", "pPr")),
    };
  }

  /** The style of a paragraph, by the name that people see. */
  nameOf(paragraph: XmlNode): string | null {
    const id = this.styleOf(paragraph);
    return childOf(this.styles.get(id ?? ""), "name")?.attributes.get("val") ?? id ?? null;
  }

  paragraph(paragraph: XmlNode): ParagraphLook {
    const ofStyle = this.look(this.styleOf(paragraph)).paragraph;
    return layered([this.defaults.paragraph, ofStyle, paragraphLook(childOf(paragraph, "pPr"))]);
  }

  run(paragraph: XmlNode, run: XmlNode): TextLook {
    const rPr = childOf(run, "rPr");
    const ofParagraph = this.look(this.styleOf(paragraph)).text;
    const ofCharacter = this.look(childOf(rPr, "rStyle")?.attributes.get("val")).text;
    const toggled: TextLook = {};
    for (const name of TOGGLES) {
      if (ofParagraph[name] === undefined && ofCharacter[name] === undefined) continue;
      toggled[name] = (ofParagraph[name] ?? false) !== (ofCharacter[name] ?? false);
    }
    return { ...this.defaults.text, ...ofParagraph, ...ofCharacter, ...toggled, ...textLook(rPr) };
  }

  private styleOf(paragraph: XmlNode): string | undefined {
    return descend(paragraph, "pPr", "pStyle")?.attributes.get("val") ?? this.normal;
  }

  /** What a style comes to, with all that it is based on. */
  private look(id: string | undefined): { text: TextLook; paragraph: ParagraphLook } {
    const known = this.looks.get(id);
    if (known !== undefined) return known;
    const chain = this.chain(id);
    const text = chain.reduce<TextLook>(
      (look, style) => ({ ...look, ...textLook(childOf(style, "rPr")) }),
      {},
    );
    const look = { text, paragraph: layered(chain.map((style) => paragraphLook(childOf(style, "pPr")))) };
    this.looks.set(id, look);
    return look;
  }

  /** A style and those that it is based on, the deepest first. A circle ends where it closes. */
  private chain(id: string | undefined): XmlNode[] {
    const found: XmlNode[] = [];
    let next = this.styles.get(id ?? "");
    while (next !== undefined && !found.includes(next) && found.length < CHAIN_LIMIT) {
      found.unshift(next);
      next = this.styles.get(childOf(next, "basedOn")?.attributes.get("val") ?? "");
    }
    return found;
  }
}
