/** A configuration file as JSON, or one value of it. */
import { atPointer } from "../../assertions/json.js";
import type { Json } from "../../assertions/schema.js";
import { type Answer, ContentFault } from "../../value.js";
import type { Parser } from "../parsers.js";
import { parseIni } from "./ini.js";
import { parseStrictJson } from "./json.js";
import { parsePlist } from "./plist.js";
import type { ConfigFormat, ConfigQuery } from "./query.js";
import { parseRegistry } from "./registry.js";
import { decodeConfig } from "./text.js";
import { parseToml } from "./toml.js";
import { parseYaml } from "./yaml.js";

export const parseConfig: Parser<ConfigQuery> = (bytes, query, what): Answer => {
  const format = query.kind === "text" || query.kind === "number" ? query.format : query.kind;
  const document = parseFormat(bytes, format, query, what);
  const value = atPointer(document, query.at);
  if (value === undefined) return { absent: `${what} holds nothing at ${query.at}` };
  if (query.kind !== "text" && query.kind !== "number") return { type: "json", value };
  if (query.kind === "text" && typeof value === "string") return { type: "text", value };
  if (query.kind === "number" && typeof value === "number") return { type: "number", value };
  const type = value === null ? "null" : Array.isArray(value) ? "an array" : `a ${typeof value}`;
  throw new ContentFault(`${what}: what is at ${query.at} is ${type}, not a ${query.kind}`);
};

function parseFormat(bytes: Uint8Array, format: ConfigFormat, query: ConfigQuery, what: string): Json {
  switch (format) {
    case "ini":
      return parseIni(decodeConfig(bytes, what), query.kind === "ini" && query.repeated, what);
    case "json":
    case "jsonc":
      return parseStrictJson(decodeConfig(bytes, what), format === "jsonc", what);
    case "yaml":
      return parseYaml(decodeConfig(bytes, what), what);
    case "toml":
      return parseToml(decodeConfig(bytes, what), what);
    case "plist":
      return parsePlist(bytes, what);
    case "registry":
      return parseRegistry(decodeConfig(bytes, what), what);
  }
}
