/** An Office Open XML file as a package of parts: a zip archive whose parts name each other through relations. */
import { posix } from "node:path";
import type { ArchiveEntry } from "../../parse/entries.js";
import { childrenOf, parseXml, type XmlNode, type XmlOptions } from "../../parse/xml.js";
import { isZip, openZip } from "../../parse/zip.js";
import { ContentFault } from "../../value.js";

/** Parts of one file. */
const PART_LIMIT = 5_000;
/** How the older binary formats start, and how those with a password do. */
const COMPOUND_FILE = "d0cf11e0a1b11ae1";

export interface Relation {
  id: string;
  /** The last word of its type: `worksheet`, `image`, ... */
  type: string;
  /** Name of a part, or a link that leads out of the file. */
  target: string;
  external: boolean;
}

/** Opens a file as its parts by name; they are expanded when they are asked for. Throws `ContentFault`. */
export function openParts(bytes: Uint8Array, what: string): Map<string, ArchiveEntry> {
  if (Buffer.from(bytes.subarray(0, 8)).toString("hex") === COMPOUND_FILE)
    throw new ContentFault(`${what} is of an older format or has a password, which is not read`);
  if (!isZip(bytes)) throw new ContentFault(`${what} is no Office Open XML file and no OpenDocument`);
  const entries = openZip(bytes, what).filter(({ kind }) => kind === "file");
  if (entries.length > PART_LIMIT) throw new ContentFault(`${what} has more than ${PART_LIMIT} parts`);
  return new Map(entries.map((entry) => [entry.name, entry]));
}

export class OfficePackage {
  /** Names the file in faults. */
  readonly what: string;
  private readonly parts: Map<string, ArchiveEntry>;
  private readonly known = new Map<string, Map<string, Relation>>();

  constructor(parts: Map<string, ArchiveEntry>, what: string) {
    this.what = what;
    this.parts = parts;
  }

  has(part: string): boolean {
    return this.parts.has(part);
  }

  /** A part's tree, alternatives chosen. Throws `ContentFault` where there is none. */
  xml(part: string, options?: XmlOptions): XmlNode {
    const entry = this.parts.get(part);
    if (entry === undefined) throw new ContentFault(`${this.what} lacks its part ${part}`);
    const each: Record<string, (node: XmlNode, depth: number) => void> = {};
    for (const [name, take] of Object.entries(options?.each ?? {}))
      each[name] = (node, depth) => take(choose(node), depth);
    const root = parseXml(entry.read(), `${this.what}: ${part}`, { each });
    return choose(root);
  }

  /** Relations of a part; those of the whole file belong to "". */
  relations(part: string): Relation[] {
    return [...this.relationsById(part).values()];
  }

  /** The part that a relation's id leads to. */
  related(part: string, id: string | undefined): Relation | undefined {
    return this.relationsById(part).get(id ?? "");
  }

  private relationsById(part: string): Map<string, Relation> {
    const known = this.known.get(part);
    if (known !== undefined) return known;
    const folder = posix.dirname(part);
    const file = posix.join(folder, "_rels", `${posix.basename(part)}.rels`);
    const nodes = this.parts.has(file) ? childrenOf(this.xml(file), "Relationship") : [];
    const found = new Map<string, Relation>();
    for (const { attributes } of nodes) {
      const id = attributes.get("Id") ?? "";
      const target = attributes.get("Target") ?? "";
      const external = attributes.get("TargetMode") === "External";
      if (found.has(id)) throw new ContentFault(`${this.what}: ${file} names ${JSON.stringify(id)} twice`);
      found.set(id, {
        id,
        type: (attributes.get("Type") ?? "").split("/").at(-1) ?? "",
        target: external ? target : posix.resolve("/", folder, target).slice(1),
        external,
      });
    }
    this.known.set(part, found);
    return found;
  }

  /** The first part of a type that a part names. */
  partOf(part: string, type: string): string | undefined {
    return this.relations(part).find((relation) => relation.type === type && !relation.external)?.target;
  }

  /** The part that the file is about. Throws `ContentFault`. */
  get main(): string {
    const part = this.partOf("", "officeDocument");
    if (part === undefined) throw new ContentFault(`${this.what} is no Office Open XML file`);
    return part;
  }
}

/** Of alternatives for readers of different ages the first is taken, which is the newest. */
function choose(node: XmlNode): XmlNode {
  node.children = node.children.flatMap((child) => {
    if (child.name !== "AlternateContent") return [choose(child)];
    const choice = child.children.find(({ name }) => name === "Choice") ?? child.children[0];
    return choice === undefined ? [] : choose(choice).children;
  });
  return node;
}

/** True unless an on-off property says no; it says yes by standing there. */
export function isOn(node: XmlNode | undefined): boolean | undefined {
  if (node === undefined) return undefined;
  return !["0", "false", "off", "none"].includes(node.attributes.get("val") ?? "1");
}

/** A whole number in an attribute. */
export function wholeOf(node: XmlNode | undefined, attribute: string): number | undefined {
  const text = node?.attributes.get(attribute);
  return text !== undefined && /^-?\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** A number in an attribute. */
export function numberOf(node: XmlNode | undefined, attribute: string): number | undefined {
  const text = node?.attributes.get(attribute) ?? "";
  return /^-?\d{1,15}(\.\d{1,20})?$/.test(text) ? Number(text) : undefined;
}
