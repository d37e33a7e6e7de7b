/**
 * INI files as desktop entries, systemd units, git's and Python's configuration write them. Read by our own few lines: what the
 * libraries do beyond them (a `;` within a value ends it, dots in a section's name nest, `true` becomes a boolean) reads
 * `Categories=Utility;TextEditor;` wrongly.
 */
import type { Json } from "../../assertions/schema.js";
import { setKey } from "../../parse/tree.js";
import { ContentFault } from "../../value.js";

type Fields = { [key: string]: Json };

/**
 * Sections to keys to values, which are text as it stands, without the white space around. A line that starts with `;` or `#` is
 * a comment; the key ends at the first `=`, or at the first `:` where there is no `=`; a key without either has the value null. Keys
 * ahead of the first section are in the section "". A section may be taken up again; a key that stands twice in it is refused
 * unless `repeated`, where every value is a list.
 */
export function parseIni(text: string, repeated: boolean, what: string): Json {
  const sections: Fields = {};
  let fields: Fields | undefined;
  for (const [index, raw] of text.split(/\r\n|\n|\r/).entries()) {
    const line = raw.trim();
    if (line === "" || line.startsWith(";") || line.startsWith("#")) continue;
    const refuse = (why: string): ContentFault => new ContentFault(`${what}: line ${index + 1} ${why}`);
    if (line.startsWith("[")) {
      const end = line.lastIndexOf("]");
      if (end === -1) throw refuse("opens a section and never closes it");
      if (!/^\s*([;#].*)?$/.test(line.slice(end + 1))) throw refuse("has text after a section's name");
      fields = section(sections, line.slice(1, end).trim());
      continue;
    }
    fields ??= section(sections, "");
    const [key, value] = splitLine(line);
    if (key === "") throw refuse("has no key");
    const before = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (before !== undefined && !repeated) throw refuse(`has the key ${JSON.stringify(key)} a second time`);
    if (Array.isArray(before)) before.push(value);
    else setKey(fields, key, repeated ? [value] : value);
  }
  return sections;
}

function section(sections: Fields, name: string): Fields {
  const known = Object.hasOwn(sections, name) ? sections[name] : undefined;
  if (known !== undefined) return known as Fields;
  const made: Fields = {};
  setKey(sections, name, made);
  return made;
}

function splitLine(line: string): [string, string | null] {
  const equals = line.indexOf("=");
  const end = equals === -1 ? line.indexOf(":") : equals;
  if (end === -1) return [line, null];
  return [line.slice(0, end).trimEnd(), line.slice(end + 1).trimStart()];
}
