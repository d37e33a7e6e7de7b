/** Pages of an OpenDocument text, by the masters that it is laid out on. */
import type { Json } from "../../../assertions/schema.js";
import { childOf, childrenOf, type XmlNode } from "../../../parse/xml.js";
import type { OpenDocument } from "./file.js";
import { twips } from "./lengths.js";
import type { Texts } from "./text.js";

type Fields = { [key: string]: Json };

/** Page sizes and margins in twentieths of a point; headers and footers by the pages that they are for. */
export function pagesOf(file: OpenDocument, texts: Texts): Json[] {
  const styles = file.has("styles.xml") ? file.xml("styles.xml") : undefined;
  const layouts = new Map(
    childrenOf(childOf(styles, "automatic-styles"), "page-layout").map((layout) => [
      layout.attributes.get("name") ?? "",
      childOf(layout, "page-layout-properties"),
    ]),
  );
  return childrenOf(childOf(styles, "master-styles"), "master-page").map((master) =>
    pageOf(master, layouts.get(master.attributes.get("page-layout-name") ?? ""), texts),
  );
}

function pageOf(master: XmlNode, layout: XmlNode | undefined, texts: Texts): Json {
  const length = (name: string): number | null => twips(layout?.attributes.get(name)) ?? null;
  const shown = (names: Readonly<Record<string, string>>): Fields => {
    const found: Fields = {};
    for (const [element, key] of Object.entries(names)) {
      const node = childOf(master, element);
      if (node !== undefined) found[key] = texts.block(node);
    }
    return found;
  };
  const columns = childOf(layout, "columns")?.attributes.get("fo:column-count") ?? "1";
  return {
    width: length("fo:page-width"),
    height: length("fo:page-height"),
    orientation: layout?.attributes.get("print-orientation") ?? "portrait",
    margins: {
      top: length("fo:margin-top"),
      right: length("fo:margin-right"),
      bottom: length("fo:margin-bottom"),
      left: length("fo:margin-left"),
    },
    columns: /^\d{1,4}$/.test(columns) ? Math.max(1, Number(columns)) : 1,
    headers: shown({ header: "default", "header-left": "even", "header-first": "first" }),
    footers: shown({ footer: "default", "footer-left": "even", "footer-first": "first" }),
  };
}
