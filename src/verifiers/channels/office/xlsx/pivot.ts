/** A pivot table by its key properties. */
import type { Json } from "../../../assertions/schema.js";
import { childOf, childrenOf, descend, type XmlNode } from "../../../parse/xml.js";
import { wholeOf } from "../package.js";
import type { Workbook } from "./workbook.js";

/** What stands among rows or columns where there are several values. */
const VALUES = -2;

/** `{name, location, source, rows, columns, filters, values: [{name, field, function}]}`, fields by their names. */
export function pivotOf({ file }: Workbook, part: string): Json {
  const table = file.xml(part);
  const cachePart = file.partOf(part, "pivotCacheDefinition");
  const cache = cachePart === undefined ? undefined : file.xml(cachePart);
  const names = childrenOf(childOf(cache, "cacheFields"), "cacheField").map(
    ({ attributes }) => attributes.get("name") ?? "",
  );
  const nameOf = (index: number | undefined): string | null =>
    index === VALUES ? "values" : (names[index ?? -1] ?? null);
  const fields = (list: string, item: string, attribute: string): (string | null)[] =>
    childrenOf(childOf(table, list), item).map((node) => nameOf(wholeOf(node, attribute)));
  return {
    name: table.attributes.get("name") ?? "",
    location: childOf(table, "location")?.attributes.get("ref") ?? null,
    source: sourceOf(descend(cache, "cacheSource", "worksheetSource")),
    rows: fields("rowFields", "field", "x"),
    columns: fields("colFields", "field", "x"),
    filters: fields("pageFields", "pageField", "fld"),
    values: childrenOf(childOf(table, "dataFields"), "dataField").map((node) => ({
      name: node.attributes.get("name") ?? "",
      field: nameOf(wholeOf(node, "fld")),
      function: node.attributes.get("subtotal") ?? "sum",
    })),
  };
}

function sourceOf(node: XmlNode | undefined): Json {
  if (node === undefined) return null;
  const text = (name: string): string | null => node.attributes.get(name) ?? null;
  return { sheet: text("sheet"), ref: text("ref"), name: text("name") };
}
