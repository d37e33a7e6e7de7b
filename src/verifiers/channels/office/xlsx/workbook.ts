/** A workbook: its sheets, its names and its texts. */
import type { Json } from "../../../assertions/schema.js";
import { childOf, childrenOf, findAll, type XmlNode } from "../../../parse/xml.js";
import { ContentFault } from "../../../value.js";
import { isOn, type OfficePackage } from "../package.js";

/** Texts that cells share, and their characters. */
const STRING_LIMIT = 500_000;
const TEXT_LIMIT = 32 * 1024 * 1024;

export interface Sheet {
  name: string;
  state: string;
  part: string;
  /** `worksheet`, `chartsheet`, ... */
  kind: string;
}

export class Workbook {
  readonly file: OfficePackage;
  readonly sheets: Sheet[];
  readonly from1904: boolean;
  private readonly root: XmlNode;
  private strings: string[] | undefined;

  constructor(file: OfficePackage, root: XmlNode) {
    this.file = file;
    this.root = root;
    this.sheets = childrenOf(childOf(root, "sheets"), "sheet").map(({ attributes }) => {
      const name = attributes.get("name") ?? "";
      const relation = file.related(file.main, attributes.get("r:id"));
      if (relation === undefined)
        throw new ContentFault(`${file.what} lacks its sheet ${JSON.stringify(name)}`);
      return {
        name,
        state: attributes.get("state") ?? "visible",
        part: relation.target,
        kind: relation.type,
      };
    });
    const properties = childOf(root, "workbookPr");
    this.from1904 = ["1", "true"].includes(properties?.attributes.get("date1904") ?? "0");
  }

  /** A sheet by its name or its place counted from 1. */
  sheet(which: string | number): Sheet | undefined {
    if (typeof which === "number") return this.sheets[which - 1];
    return this.sheets.find(({ name }) => name === which);
  }

  describe(): Json {
    const names = childrenOf(childOf(this.root, "definedNames"), "definedName");
    return {
      sheets: this.sheets.map(({ name, state, kind }) => ({ name, state, kind })),
      date_system: this.from1904 ? 1904 : 1900,
      names: names.map(({ attributes, text }) => ({
        name: attributes.get("name") ?? "",
        sheet: this.sheets[Number(attributes.get("localSheetId") ?? -1)]?.name ?? null,
        refers_to: text,
        hidden: ["1", "true"].includes(attributes.get("hidden") ?? "0"),
      })),
    };
  }

  /** A shared text. Throws `ContentFault` for one that is not there. */
  text(index: number): string {
    this.strings ??= this.readStrings();
    const text = this.strings[index];
    if (text === undefined) throw new ContentFault(`${this.file.what} has no shared text ${index}`);
    return text;
  }

  private readStrings(): string[] {
    const part = this.file.partOf(this.file.main, "sharedStrings");
    const strings: string[] = [];
    let characters = 0;
    if (part === undefined) return strings;
    const si = (node: XmlNode): void => {
      const text = richText(node);
      characters += text.length;
      if (strings.push(text) > STRING_LIMIT || characters > TEXT_LIMIT)
        throw new ContentFault(`${this.file.what} has more shared texts than are read`);
    };
    this.file.xml(part, { each: { si } });
    return strings;
  }
}

/** The text of a cell's or a shared string's runs, without the readings that stand above East Asian text. */
export function richText(node: XmlNode | undefined): string {
  const runs = node?.children.filter(({ name }) => name === "t" || name === "r") ?? [];
  return runs.map((run) => (run.name === "t" ? run.text : textsOf(run))).join("");
}

function textsOf(run: XmlNode): string {
  return findAll(run, "t")
    .map(({ text }) => text)
    .join("");
}

/** Whether an attribute says yes. */
export function says(node: XmlNode | undefined, attribute: string): boolean {
  const value = node?.attributes.get(attribute);
  return (
    value !== undefined &&
    isOn({ name: "", attributes: new Map([["val", value]]), children: [], text: "" }) === true
  );
}
