/** Answers of a presentation. */
import type { Json } from "../../../assertions/schema.js";
import { childOf, childrenOf, descend, findAll, type XmlNode } from "../../../parse/xml.js";
import { type Answer, ContentFault } from "../../../value.js";
import type { OfficePackage } from "../package.js";
import type { OfficeQuery } from "../query.js";
import { bodyText, fillOf, type Places, shapesOf, shapeTexts } from "./shapes.js";

type PresentationQuery = Extract<OfficeQuery, { kind: "text" | "slides" | "slide" }>;

/** Slides of one presentation. */
const SLIDE_LIMIT = 2_000;

export function presentationAnswer(file: OfficePackage, root: XmlNode, query: PresentationQuery): Answer {
  const parts = slidesOf(file, root);
  if (query.kind === "slide") {
    const part = parts[query.slide - 1];
    if (part === undefined)
      return { absent: `${file.what} has ${parts.length} slides and no slide ${query.slide}` };
    return { type: "json", value: describeSlide(file, part) };
  }
  const texts = parts.map((part) => shapeTexts(treeOf(file.xml(part))).join("\n"));
  // A form feed between slides, as between the pages of a PDF.
  return query.kind === "slides" ? { type: "list", value: texts } : { type: "text", value: texts.join("\f") };
}

function slidesOf(file: OfficePackage, root: XmlNode): string[] {
  const listed = childrenOf(childOf(root, "sldIdLst"), "sldId");
  if (listed.length > SLIDE_LIMIT) throw new ContentFault(`${file.what} has more than ${SLIDE_LIMIT} slides`);
  const parts = listed.map(({ attributes }, index) => {
    const relation = file.related(file.main, attributes.get("r:id"));
    if (relation === undefined) throw new ContentFault(`${file.what} lacks its slide ${index + 1}`);
    return relation.target;
  });
  if (new Set(parts).size < parts.length) throw new ContentFault(`${file.what} shows one slide's part twice`);
  return parts;
}

function treeOf(slide: XmlNode | undefined): XmlNode | undefined {
  return descend(slide, "cSld", "spTree");
}

function describeSlide(file: OfficePackage, part: string): Json {
  const slide = file.xml(part);
  const layoutPart = file.partOf(part, "slideLayout");
  const layout = layoutPart === undefined ? undefined : file.xml(layoutPart);
  const masterPart = layoutPart === undefined ? undefined : file.partOf(layoutPart, "slideMaster");
  const master = masterPart === undefined ? undefined : file.xml(masterPart);
  const tree = treeOf(slide);
  return {
    hidden: slide.attributes.get("show") === "0" || slide.attributes.get("show") === "false",
    layout: childOf(layout, "cSld")?.attributes.get("name") ?? null,
    background: fillOf(descend(slide, "cSld", "bg", "bgPr")),
    text: shapeTexts(tree).join("\n"),
    shapes: shapesOf(file, part, tree, placesOf([treeOf(layout), treeOf(master)])),
    images: findAll(tree, "pic").length,
    notes: notesOf(file, part),
    transition: transitionOf(childOf(slide, "transition")),
    animated: childOf(slide, "timing") !== undefined,
  };
}

/** A placeholder is the same one above by its index, or else by its type; the layout is asked ahead of its master. */
function placesOf(trees: readonly (XmlNode | undefined)[]): Places {
  const known = new Map<string, XmlNode>();
  for (const shape of trees.flatMap((tree) => findAll(tree, "sp"))) {
    const placeholder = descend(shape, "nvSpPr", "nvPr", "ph");
    const place = descend(shape, "spPr", "xfrm");
    if (placeholder === undefined || place === undefined) continue;
    for (const key of keysOf(placeholder)) if (!known.has(key)) known.set(key, place);
  }
  return (placeholder) =>
    keysOf(placeholder)
      .map((key) => known.get(key))
      .find((place) => place !== undefined);
}

function keysOf({ attributes }: XmlNode): string[] {
  return ["idx", "type"].flatMap((name) =>
    attributes.has(name) ? [`${name} ${attributes.get(name) ?? ""}`] : [],
  );
}

function notesOf(file: OfficePackage, part: string): string | null {
  const notesPart = file.partOf(part, "notesSlide");
  if (notesPart === undefined) return null;
  const bodies = findAll(treeOf(file.xml(notesPart)), "sp").filter(
    (shape) => descend(shape, "nvSpPr", "nvPr", "ph")?.attributes.get("type") === "body",
  );
  return bodies.map((shape) => bodyText(childOf(shape, "txBody"))).join("\n");
}

/** `{type, speed, advance_after}`: the effect by its name, milliseconds until the next slide; null without one. */
function transitionOf(node: XmlNode | undefined): Json {
  if (node === undefined) return null;
  const [effect] = node.children.filter(({ name }) => name !== "sndAc" && name !== "extLst");
  const after = Number(node.attributes.get("advTm") ?? Number.NaN);
  return {
    type: effect?.name ?? "none",
    speed: node.attributes.get("spd") ?? "fast",
    advance_after: Number.isFinite(after) ? after : null,
  };
}
