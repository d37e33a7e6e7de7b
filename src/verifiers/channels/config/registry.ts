/**
 * Registries as text: `.reg` exports (REGEDIT4 and version 5.00) and the files that Wine keeps (`user.reg`, `system.reg`).
 *
 *     [HKEY_CURRENT_USER\Software\Demo]        Wine: [Software\\Demo] 1700000000
 *     @="the key's own value"
 *     "Name"="text, with \\ and \" escaped"
 *     "Count"=dword:0000002a
 *     "Blob"=hex:01,02,\                       a line that ends in a backslash goes on
 *       03
 */
import type { Json } from "../../assertions/schema.js";
import { setKey } from "../../parse/tree.js";
import { ContentFault } from "../../value.js";

type Fields = { [key: string]: Json };

const HEADER = /^(REGEDIT4|Windows Registry Editor Version 5\.00|WINE REGISTRY Version 2)\s*$/;
const NAME = /^(?:@|"((?:[^"\\]|\\.)*)")\s*=\s*/s;
const TEXT = /^(?:str(?:\(([0-9a-f]+)\))?:)?"((?:[^"\\]|\\.)*)"$/s;
const BYTES = /^hex(?:\(([0-9a-f]+)\))?:((?:[0-9a-f]{2}(?:,\s*[0-9a-f]{2})*)?),?$/i;
const REMOVED = "-";

/**
 * Keys, spelt as in the file with single backslashes, to values by name (`@` is the key's own). Text and dword are text and number;
 * everything else is `{type, hex}`, text of another type `{type, text}`; a key or value that an export removes is null. Throws `ContentFault` with the line.
 */
export function parseRegistry(text: string, what: string): Json {
  const lines = text.split(/\r\n|\n/);
  const wine = lines[0]?.startsWith("WINE") === true;
  if (!HEADER.test(lines[0] ?? "")) throw new ContentFault(`${what} does not start as a registry file`);
  const keys: Fields = {};
  let fields: Fields | undefined;
  for (let index = 1; index < lines.length; index++) {
    const number = index + 1;
    const refuse = (why: string): ContentFault => new ContentFault(`${what}: line ${number} ${why}`);
    const parts = [(lines[index] ?? "").trim()];
    while (parts.at(-1)?.endsWith("\\") === true && index + 1 < lines.length && !isClosed(parts))
      parts.push((lines[++index] ?? "").trim());
    const line = parts.map((part, at) => (at < parts.length - 1 ? part.slice(0, -1) : part)).join("");
    if (line === "" || line.startsWith(";") || line.startsWith("#")) continue;
    if (line.startsWith("[")) {
      const end = line.lastIndexOf("]");
      if (end === -1) throw refuse("opens a key and never closes it");
      const name = wine ? unescape(line.slice(1, end), true) : line.slice(1, end);
      const removed = name.startsWith(REMOVED);
      const path = removed ? name.slice(1) : name;
      if (Object.hasOwn(keys, path)) throw refuse(`has the key ${JSON.stringify(path)} a second time`);
      fields = {};
      setKey(keys, path, removed ? null : fields);
      continue;
    }
    const match = NAME.exec(line);
    if (match === null) throw refuse("is neither a key nor a value");
    if (fields === undefined) throw refuse("is a value outside any key");
    const name = match[1] === undefined ? "@" : unescape(match[1], wine);
    if (Object.hasOwn(fields, name)) throw refuse(`has the value ${JSON.stringify(name)} a second time`);
    const value = readValue(line.slice(match[0].length), wine);
    if (value === undefined) throw refuse("has a value of no known type");
    setKey(fields, name, value);
  }
  return keys;
}

/** A backslash at the end of a quoted text is an escape, not a continuation. */
function isClosed(parts: readonly string[]): boolean {
  return parts.length === 1 && !/=\s*hex/i.test(parts[0] ?? "");
}

function readValue(written: string, wine: boolean): Json | undefined {
  if (written === REMOVED) return null;
  const text = TEXT.exec(written);
  if (text !== null) {
    const value = unescape(text[2] ?? "", wine);
    return text[1] === undefined ? value : { type: Number.parseInt(text[1], 16), text: value };
  }
  const dword = /^dword:([0-9a-f]{1,8})$/i.exec(written);
  if (dword !== null) return Number.parseInt(dword[1] ?? "", 16);
  const bytes = BYTES.exec(written);
  if (bytes === null) return undefined;
  const hex = (bytes[2] ?? "").replaceAll(/[,\s]/g, "").toLowerCase();
  return { type: bytes[1] === undefined ? 3 : Number.parseInt(bytes[1], 16), hex };
}

const LETTERS: Readonly<Record<string, string>> = {
  n: "\n",
  r: "\r",
  t: "\t",
  a: "\x07",
  b: "\b",
  e: "\x1b",
  f: "\f",
  v: "\v",
};

/** An export escapes backslash and quote alone; Wine writes C's escapes too, and `\x` with up to four hex digits. */
function unescape(text: string, wine: boolean): string {
  if (!wine) return text.replaceAll(/\\([\\"])/g, "$1");
  return text.replaceAll(
    /\\(?:x([0-9a-f]{1,4})|([0-7]{1,3})|(.))/gis,
    (_, hex: string | undefined, octal: string | undefined, letter: string | undefined) => {
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
      return LETTERS[letter ?? ""] ?? letter ?? "";
    },
  );
}
