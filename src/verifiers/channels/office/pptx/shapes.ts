/** Shapes of a slide: what they are, where they stand and what they say. */
import type { Json } from "../../../assertions/schema.js";
import { childOf, childrenOf, descend, findAll, type XmlNode } from "../../../parse/xml.js";
import { chartOf } from "../chart.js";
import { numberOf, type OfficePackage, wholeOf } from "../package.js";

type Fields = { [key: string]: Json };

const kinds: Readonly<Record<string, string>> = {
  sp: "shape",
  pic: "picture",
  cxnSp: "connector",
  grpSp: "group",
  graphicFrame: "frame",
};

/** Where a placeholder stands if it does not say so itself: in the slide's layout, or in its master. */
export type Places = (placeholder: XmlNode) => XmlNode | undefined;

/** The paragraphs of a text body, each in one line. */
export function bodyText(body: XmlNode | undefined): string {
  return childrenOf(body, "p").map(paragraphText).join("\n");
}

function paragraphText(paragraph: XmlNode): string {
  return paragraph.children
    .map((child) => (child.name === "br" ? "\n" : (childOf(child, "t")?.text ?? "")))
    .join("");
}

/** Texts of all shapes in their order, those of groups and tables included. */
export function shapeTexts(tree: XmlNode | undefined): string[] {
  return findAll(tree, "txBody")
    .map(bodyText)
    .filter((text) => text !== "");
}

/** The shapes of a tree, the lowest first. Sizes and places are in English Metric Units, 914,400 to the inch. */
export function shapesOf(
  file: OfficePackage,
  part: string,
  tree: XmlNode | undefined,
  places: Places,
): Json[] {
  return (tree?.children ?? []).flatMap((node) => {
    const kind = kinds[node.name];
    return kind === undefined ? [] : [shapeOf(file, part, node, kind, places)];
  });
}

function shapeOf(file: OfficePackage, part: string, node: XmlNode, kind: string, places: Places): Json {
  const about = node.children.find(({ name }) => name.startsWith("nv"));
  const properties = childOf(about, "cNvPr");
  const placeholder = descend(about, "nvPr", "ph");
  const own = descend(node, "spPr", "xfrm") ?? descend(node, "grpSpPr", "xfrm") ?? childOf(node, "xfrm");
  const place = own ?? (placeholder === undefined ? undefined : places(placeholder));
  const click = childOf(properties, "hlinkClick");
  const body = childOf(node, "txBody");
  const shape: Fields = {
    name: properties?.attributes.get("name") ?? null,
    kind,
    alt: properties?.attributes.get("descr") ?? null,
    placeholder: placeholder === undefined ? null : (placeholder.attributes.get("type") ?? "body"),
    x: numberOf(childOf(place, "off"), "x") ?? null,
    y: numberOf(childOf(place, "off"), "y") ?? null,
    width: numberOf(childOf(place, "ext"), "cx") ?? null,
    height: numberOf(childOf(place, "ext"), "cy") ?? null,
    rotation: (numberOf(place, "rot") ?? 0) / 60_000,
    geometry: descend(node, "spPr", "prstGeom")?.attributes.get("prst") ?? null,
    fill: fillOf(childOf(node, "spPr")),
    link: file.related(part, click?.attributes.get("r:id"))?.target ?? null,
    text: body === undefined ? null : bodyText(body),
    paragraphs: childrenOf(body, "p").map(paragraphOf),
  };
  if (node.name === "pic")
    shape.image =
      file.related(part, descend(node, "blipFill", "blip")?.attributes.get("r:embed"))?.target ?? null;
  if (node.name === "grpSp") shape.shapes = shapesOf(file, part, node, places);
  if (node.name === "graphicFrame") Object.assign(shape, frameOf(file, part, node));
  return shape;
}

function frameOf(file: OfficePackage, part: string, node: XmlNode): Fields {
  const [table] = findAll(node, "tbl");
  if (table !== undefined) {
    const rows = childrenOf(table, "tr").map((row) =>
      childrenOf(row, "tc").map((cell) => bodyText(childOf(cell, "txBody"))),
    );
    return { kind: "table", rows };
  }
  const [chart] = findAll(node, "chart");
  const target = file.related(part, chart?.attributes.get("r:id"))?.target;
  return target === undefined ? {} : { kind: "chart", chart: chartOf(file, target) };
}

function paragraphOf(paragraph: XmlNode): Json {
  const properties = childOf(paragraph, "pPr");
  const bullet = properties?.children.find(({ name }) => /^bu(None|Char|AutoNum|Blip)$/.test(name));
  return {
    text: paragraphText(paragraph),
    level: wholeOf(properties, "lvl") ?? 0,
    alignment: properties?.attributes.get("algn") ?? null,
    bullet: bullet === undefined ? null : bullet.name.slice(2).toLowerCase(),
    runs: childrenOf(paragraph, "r").map(runOf),
  };
}

/** What is set on the run itself; null is what the layout decides. Sizes in points. */
function runOf(run: XmlNode): Fields {
  const properties = childOf(run, "rPr");
  const flag = (name: string): boolean | null => {
    const value = properties?.attributes.get(name);
    return value === undefined ? null : value === "1" || value === "true";
  };
  const size = numberOf(properties, "sz");
  return {
    text: childOf(run, "t")?.text ?? "",
    bold: flag("b"),
    italic: flag("i"),
    underline: properties?.attributes.get("u") ?? null,
    strike: properties?.attributes.get("strike") ?? null,
    size: size === undefined ? null : size / 100,
    font: childOf(properties, "latin")?.attributes.get("typeface") ?? null,
    color: fillOf(properties),
  };
}

/** `"FF0000"`, `{theme: "accent1"}`, the name of another kind of fill, or null where none is set. */
export function fillOf(node: XmlNode | undefined): Json {
  const fill = node?.children.find(({ name }) => name.endsWith("Fill"));
  if (fill === undefined) return null;
  if (fill.name !== "solidFill") return fill.name.slice(0, -4);
  const [color] = fill.children;
  const value = color?.attributes.get("val") ?? null;
  return color?.name === "schemeClr" ? { theme: value } : value;
}
