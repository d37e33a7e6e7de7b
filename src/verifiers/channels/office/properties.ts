/** What an office file says of itself. */
import type { Json } from "../../assertions/schema.js";
import { childOf, childrenOf } from "../../parse/xml.js";
import { setKey } from "../../parse/tree.js";
import type { OfficePackage } from "./package.js";

const core = {
  title: "title",
  subject: "subject",
  author: "creator",
  keywords: "keywords",
  description: "description",
  category: "category",
  status: "contentStatus",
  last_modified_by: "lastModifiedBy",
  revision: "revision",
  created: "created",
  modified: "modified",
} as const;

/** Core properties as text, null where the file does not say; the application; custom properties by name as text. */
export function propertiesOf(file: OfficePackage): Json {
  const found: { [key: string]: Json } = {};
  const part = file.partOf("", "core-properties");
  const root = part === undefined ? undefined : file.xml(part);
  for (const [name, element] of Object.entries(core)) found[name] = childOf(root, element)?.text ?? null;
  const extended = file.partOf("", "extended-properties");
  const application = extended === undefined ? undefined : childOf(file.xml(extended), "Application");
  found.application = application?.text ?? null;
  const custom: { [key: string]: Json } = {};
  const customPart = file.partOf("", "custom-properties");
  for (const node of customPart === undefined ? [] : childrenOf(file.xml(customPart), "property"))
    setKey(custom, node.attributes.get("name") ?? "", node.children[0]?.text ?? null);
  found.custom = custom;
  return found;
}
