/** How cells look, as the workbook stores it: colours of a theme or an index are not resolved. */
import type { Json } from "../../../assertions/schema.js";
import { childOf, childrenOf, type XmlNode } from "../../../parse/xml.js";
import { isOn, numberOf, wholeOf } from "../package.js";
import { says, type Workbook } from "./workbook.js";

/** Number formats that have no text in the file. */
const BUILT_IN: Readonly<Record<number, string>> = {
  0: "General",
  1: "0",
  2: "0.00",
  3: "#,##0",
  4: "#,##0.00",
  9: "0%",
  10: "0.00%",
  11: "0.00E+00",
  12: "# ?/?",
  13: "# ??/??",
  14: "mm-dd-yy",
  15: "d-mmm-yy",
  16: "d-mmm",
  17: "mmm-yy",
  18: "h:mm AM/PM",
  19: "h:mm:ss AM/PM",
  20: "h:mm",
  21: "h:mm:ss",
  22: "m/d/yy h:mm",
  37: "#,##0 ;(#,##0)",
  38: "#,##0 ;[Red](#,##0)",
  39: "#,##0.00;(#,##0.00)",
  40: "#,##0.00;[Red](#,##0.00)",
  45: "mm:ss",
  46: "[h]:mm:ss",
  47: "mmss.0",
  48: "##0.0E+0",
  49: "@",
};

export class Styles {
  private readonly formats: Map<number, string>;
  private readonly lists: Record<"fonts" | "fills" | "borders" | "cellXfs", XmlNode[]>;

  constructor(workbook: Workbook) {
    const { file } = workbook;
    const part = file.partOf(file.main, "styles");
    const root = part === undefined ? undefined : file.xml(part);
    const list = (name: string): XmlNode[] => childOf(root, name)?.children ?? [];
    const formats = childrenOf(childOf(root, "numFmts"), "numFmt");
    this.formats = new Map(
      formats.map((one) => [wholeOf(one, "numFmtId") ?? -1, one.attributes.get("formatCode") ?? ""]),
    );
    this.lists = {
      fonts: list("fonts"),
      fills: list("fills"),
      borders: list("borders"),
      cellXfs: list("cellXfs"),
    };
  }

  /** The number format of a style. */
  format(style: number): string {
    const id = wholeOf(this.lists.cellXfs[style], "numFmtId") ?? 0;
    return this.formats.get(id) ?? BUILT_IN[id] ?? "General";
  }

  /** `{font, fill, border, number_format, alignment, locked}` of a style. */
  describe(style: number): Json {
    const xf = this.lists.cellXfs[style];
    const alignment = childOf(xf, "alignment");
    const text = (name: string): string | null => alignment?.attributes.get(name) ?? null;
    const protection = childOf(xf, "protection");
    return {
      font: fontOf(this.lists.fonts[wholeOf(xf, "fontId") ?? 0]),
      fill: fillOf(this.lists.fills[wholeOf(xf, "fillId") ?? 0]),
      border: borderOf(this.lists.borders[wholeOf(xf, "borderId") ?? 0]),
      number_format: this.format(style),
      alignment: {
        horizontal: text("horizontal"),
        vertical: text("vertical"),
        wrap: says(alignment, "wrapText"),
        indent: wholeOf(alignment, "indent") ?? 0,
        rotation: wholeOf(alignment, "textRotation") ?? 0,
      },
      locked: protection?.attributes.has("locked") === true ? says(protection, "locked") : true,
    };
  }
}

/** `"FF0000"` (without the alpha ahead, which applications write as they please and do not show), `{theme, tint}`, `{indexed}` or `"auto"`; null where none is given. */
export function colorOf(node: XmlNode | undefined): Json {
  if (node === undefined) return null;
  const rgb = node.attributes.get("rgb");
  if (rgb !== undefined) return rgb.toUpperCase().slice(-6);
  const theme = wholeOf(node, "theme");
  if (theme !== undefined) return { theme, tint: numberOf(node, "tint") ?? 0 };
  const indexed = wholeOf(node, "indexed");
  return indexed === undefined ? "auto" : { indexed };
}

function fontOf(font: XmlNode | undefined): { [key: string]: Json } {
  const underline = childOf(font, "u");
  return {
    name: (childOf(font, "name") ?? childOf(font, "rFont"))?.attributes.get("val") ?? null,
    size: numberOf(childOf(font, "sz"), "val") ?? null,
    bold: isOn(childOf(font, "b")) ?? false,
    italic: isOn(childOf(font, "i")) ?? false,
    strike: isOn(childOf(font, "strike")) ?? false,
    underline: underline === undefined ? null : (underline.attributes.get("val") ?? "single"),
    color: colorOf(childOf(font, "color")),
  };
}

function fillOf(fill: XmlNode | undefined): Json {
  const pattern = childOf(fill, "patternFill");
  if (pattern === undefined)
    return { pattern: childOf(fill, "gradientFill") === undefined ? "none" : "gradient", color: null };
  return {
    pattern: pattern.attributes.get("patternType") ?? "none",
    color: colorOf(childOf(pattern, "fgColor")),
  };
}

function borderOf(border: XmlNode | undefined): Json {
  const side = (name: string): Json => {
    const node = childOf(border, name);
    const style = node?.attributes.get("style") ?? "none";
    return style === "none" ? null : { style, color: colorOf(childOf(node, "color")) };
  };
  return { left: side("left"), right: side("right"), top: side("top"), bottom: side("bottom") };
}
