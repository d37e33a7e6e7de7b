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
  return listed.map(({ attributes }, index) => {
    const relation = file.related(file.main, attributes.get("r:id"));
    if (relation === undefined) throw new ContentFault(`${file.what} lacks its slide ${index + 1}`);
    return relation.target;
  });
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

/** A placeholder is the same one above by its index, or else by its type. */
function placesOf(trees: readonly (XmlNode | undefined)[]): Places {
  const known = trees.flatMap((tree) =>
    findAll(tree, "sp").flatMap((shape) => {
      const placeholder = descend(shape, "nvSpPr", "nvPr", "ph");
      const place = descend(shape, "spPr", "xfrm");
      return placeholder === undefined || place === undefined ? [] : [{ placeholder, place }];
    }),
  );
  const same = (a: XmlNode, b: XmlNode, name: string): boolean =>
    a.attributes.has(name) && a.attributes.get(name) === b.attributes.get(name);
  return (placeholder) =>
    (
      known.find((one) => same(placeholder, one.placeholder, "idx")) ??
      known.find((one) => same(placeholder, one.placeholder, "type"))
    )?.place;
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
