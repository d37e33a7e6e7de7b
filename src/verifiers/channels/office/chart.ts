/** A chart by its key properties, wherever it stands. */
import type { Json } from "../../assertions/schema.js";
import { childOf, childrenOf, descend, findAll, type XmlNode } from "../../parse/xml.js";
import type { OfficePackage } from "./package.js";

/** Series of one chart. */
const SERIES_LIMIT = 1_000;

/**
 * `{types, title, legend, axes: [{kind, title}], series: [{name, name_ref, categories, values}]}`: types as the format has them (`barChart`),
 * with the direction and grouping of bars; references as written; null where there is nothing.
 */
export function chartOf(file: OfficePackage, part: string): { [key: string]: Json } {
  const chart = childOf(file.xml(part), "chart");
  const plot = childOf(chart, "plotArea");
  const plots = plot?.children.filter(({ name }) => name.endsWith("Chart")) ?? [];
  const value = (name: string): string | null =>
    plots.map((one) => childOf(one, name)?.attributes.get("val")).find((one) => one !== undefined) ?? null;
  const series = plots.flatMap((one) => childrenOf(one, "ser")).slice(0, SERIES_LIMIT);
  const axes = plot?.children.filter(({ name }) => /^(cat|val|date|ser)Ax$/.test(name)) ?? [];
  const legend = childOf(chart, "legend");
  return {
    types: plots.map(({ name }) => name),
    direction: value("barDir"),
    grouping: value("grouping"),
    title: titleOf(childOf(chart, "title")),
    legend: legend === undefined ? null : (childOf(legend, "legendPos")?.attributes.get("val") ?? "r"),
    axes: axes.map((axis) => ({ kind: axis.name, title: titleOf(childOf(axis, "title")) })),
    series: series.map(seriesOf),
  };
}

function titleOf(title: XmlNode | undefined): string | null {
  if (title === undefined) return null;
  const rich = findAll(descend(title, "tx", "rich"), "p").map((paragraph) => textOf(paragraph, "t"));
  return rich.length > 0 ? rich.join("\n") : textOf(descend(title, "tx", "strRef", "strCache"), "v") || null;
}

function textOf(node: XmlNode | undefined, name: string): string {
  return findAll(node, name)
    .map(({ text }) => text)
    .join("");
}

function seriesOf(node: XmlNode): Json {
  const reference = (...names: string[]): string | null => {
    const found = names.flatMap((name) => findAll(childOf(node, name), "f"))[0];
    return found?.text ?? null;
  };
  const name = childOf(node, "tx");
  return {
    name: childOf(name, "v")?.text ?? (textOf(descend(name, "strRef", "strCache"), "v") || null),
    name_ref: reference("tx"),
    categories: reference("cat", "xVal"),
    values: reference("val", "yVal"),
  };
}
