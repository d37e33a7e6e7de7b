/** Addresses: normalised, with the site's placeholder, and with a query that is compared by names. */
import { strip, stripEnd } from "../../python/text.js";
import { parseQuery, parseUrl, unparseUrl, unquote } from "../../python/urls.js";
import type { Sites } from "../sites.js";
import type { Value } from "../value.js";
import { found, matches } from "./patterns.js";
import { isPattern } from "./text.js";

/** Values of a query by name: text, or what a schema made of it. */
export type Query = ReadonlyMap<string, readonly Value[]>;

export interface Address {
  base: string;
  query: Query;
  pattern: boolean;
}

export interface UrlRules {
  sites: Sites;
  /** Whether an address of none of the task's sites is a fault. */
  strict: boolean;
  /** Replaces the address's own query. */
  query?: ReadonlyMap<string, readonly string[]> | undefined;
  decodeBase64?: boolean | undefined;
  ignored?: readonly string[] | undefined;
  ignoredPatterns?: readonly string[] | undefined;
  /** What a schema makes of the query; undefined if it cannot be read. */
  typed?: ((query: ReadonlyMap<string, readonly string[]>) => Query | undefined) | undefined;
}

/** An address that can be compared; undefined where it cannot be read. */
export function addressOf(value: unknown, rules: UrlRules): Address | undefined {
  if (typeof value !== "string" || strip(value) === "") return undefined;
  const text = strip(value);
  if (isPattern(text)) {
    const query = rules.query === undefined ? new Map<string, Value[]>() : queryOf(rules.query, rules);
    return query && { base: stripEnd(text, "/"), query, pattern: true };
  }
  const bare = stripEnd(text, "/");
  const placed = bare.startsWith("__") ? rendered(bare, rules) : bare;
  if (placed === undefined) return undefined;
  if (isSsh(placed)) return { base: sshBase(placed), query: new Map(), pattern: false };
  const normal = normalUrl(placed);
  const derendered =
    normal === undefined ? undefined : (rules.sites.derender(normal) ?? (rules.strict ? undefined : normal));
  const parts = derendered === undefined ? undefined : parseUrl(derendered).value;
  if (parts === undefined) return undefined;
  let path = parts.params === "" ? parts.path : `${parts.path};${parts.params}`;
  let own = rules.query;
  if (own === undefined) {
    let hidden = "";
    if (rules.decodeBase64 === true) [path, hidden] = withoutBase64(path);
    own = normalQuery([hidden, strip(parts.query)].filter((part) => part !== "").join("&"));
  }
  const query = queryOf(own, rules);
  const netloc = withoutDefaultPort(parts.scheme, parts.netloc.toLowerCase());
  const base = unparseUrl({ scheme: parts.scheme, netloc, path, query: "", fragment: parts.fragment });
  return query && { base, query, pattern: false };
}

const rendered = (template: string, { sites, strict }: UrlRules): string | undefined =>
  sites.render(template) ?? (strict ? undefined : template);

const withoutDefaultPort = (scheme: string, netloc: string): string =>
  netloc.replace(scheme === "http" ? /:80$/ : scheme === "https" ? /:443$/ : /$^/, "");

const isSsh = (url: string): boolean => {
  const lower = url.toLowerCase();
  return (
    lower.startsWith("ssh://") || (lower.startsWith("git@") && url.includes(":") && !url.includes("://"))
  );
};

/** `git@__SSH_HOST__:path`, whatever host and port it was. */
function sshBase(url: string): string {
  if (url.toLowerCase().startsWith("ssh://")) {
    const { netloc = "", path = "" } = parseUrl(url).value ?? {};
    const user = netloc.includes("@") ? (netloc.split("@")[0] ?? "").toLowerCase() : "git";
    return `${user}@__SSH_HOST__:${path.replace(/^\/+/, "").toLowerCase()}`;
  }
  const [user, place] = splitOnce(url, "@");
  const [, path] = splitOnce(place, ":");
  return `${user.toLowerCase()}@__SSH_HOST__:${path.replace(/^\/+/, "").toLowerCase()}`;
}

function splitOnce(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

const quoted = (text: string, safe: string): string =>
  [...new TextEncoder().encode(unquote(text).normalize("NFC"))]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      const plain = byte < 0x80 && (/[A-Za-z0-9_.~-]/.test(character) || safe.includes(character));
      return plain ? character : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    })
    .join("");

/** One spelling for addresses that mean the same: quoting, dots and slashes of paths, default ports, hosts in lower case. */
function normalUrl(given: string): string | undefined {
  const cleaned = withScheme(given)
    .replaceAll("#!", "?_escaped_fragment_=")
    .replace(/[&? ]+$/, "");
  const parts = parseUrl(strip(cleaned)).value;
  if (parts === undefined) return undefined;
  const { scheme, netloc, query, fragment } = parts;
  const [, user = "", host = "", port = ""] = /^([^@]*@)?([^:]*):?(.*)$/s.exec(netloc) ?? [];
  const web = ["", "http", "https", "ftp", "file"].includes(scheme);
  const whole = parts.params === "" ? parts.path : `${parts.path};${parts.params}`;
  const raw = quoted(whole, "~:/#[]@!$&'()*+,;=");
  const path = web ? withoutDots(raw) : raw;
  const defaultPort = { http: "80", https: "443", ftp: "21" }[scheme];
  const auth = `${user === "@" || user === ":@" ? "" : user}${host.toLowerCase().replace(/^\.+|\.+$/g, "")}`;
  return unparseUrl({
    scheme,
    netloc: port === "" || port === defaultPort ? auth : `${auth}:${port}`,
    path: path === "" && web && scheme !== "" ? "/" : path,
    query: query
      .split("&")
      .filter((part) => part !== "")
      .map((part) => {
        const [name, value] = splitOnce(part, "=").map((one) => quoted(one, "~:/?[]@!$'()*+,;"));
        return value === "" ? name : `${name}=${value}`;
      })
      .join("&"),
    fragment: quoted(fragment, "~="),
  });
}

function withScheme(url: string): string {
  if (url.startsWith("/") && !url.startsWith("//")) return url;
  if (!url.slice(0, 7).includes(":")) return `https://${url.replace(/^\/+/, "")}`;
  const [scheme, rest] = splitOnce(url, ":");
  const authority = ["http", "https", "ftp", "ftps"].includes(scheme.toLowerCase());
  return authority ? `${scheme}://${rest.replace(/^\/+/, "")}` : url;
}

function withoutDots(path: string): string {
  const kept: string[] = [];
  const parts = path.split("/");
  for (const part of parts) {
    if (part === "") {
      if (kept.length === 0) kept.push(part);
    } else if (part === "..") {
      if (kept.length > 1) kept.pop();
    } else if (part !== ".") kept.push(part);
  }
  if (["", ".", ".."].includes(parts.at(-1) ?? "")) kept.push("");
  return kept.join("/");
}

const base64Segment = /^[A-Za-z0-9_-]{4,}={0,2}$/;

/** Takes segments out of a path that hold a query in base64; the queries come joined. */
function withoutBase64(path: string): [path: string, query: string] {
  const queries: string[] = [];
  const kept = path.split("/").filter((segment) => {
    const decoded = base64Segment.test(segment) ? utf8(segment) : undefined;
    if (decoded?.includes("=") === true) {
      const query = strip(unquote(decoded));
      if (query !== "") {
        queries.push(query.replace(/^[?&]+/, ""));
        return false;
      }
    }
    return segment !== "";
  });
  if (kept.length === 0) return [path.startsWith("/") ? "/" : "", queries.join("&")];
  const joined = `${path.startsWith("/") ? "/" : ""}${kept.join("/")}`;
  return [path === "" ? path : path.endsWith("/") ? `${joined}/` : joined, queries.join("&")];
}

function utf8(segment: string): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
      Buffer.from(segment, "base64url"),
    );
  } catch {
    return undefined;
  }
}

/** Names and values, unquoted twice as published, values sorted. */
function normalQuery(query: string): Map<string, string[]> {
  const parsed = new Map<string, string[]>();
  for (const [name, values] of parseQuery(query, { blank: true })) {
    parsed.set(unquote(name), values.map(unquote).sort());
  }
  return parsed;
}

function queryOf(query: ReadonlyMap<string, readonly string[]>, rules: UrlRules): Query | undefined {
  const ignored = (name: string): boolean =>
    rules.ignored?.includes(name) === true ||
    rules.ignoredPatterns?.some((pattern) => found(pattern, name, true)) === true;
  const kept = new Map(
    [...query]
      .filter(([name]) => !ignored(name))
      .map(([name, values]) => [name, values.map((value) => strip(value.toLowerCase())).sort()]),
  );
  return kept.size === 0 || rules.typed === undefined ? kept : rules.typed(kept);
}

/**
 * Compares hosts and paths; a pattern is matched against the other side with its sites in place. A pattern of the agent's
 * counts only where `careful` is false.
 */
export function sameBase(
  expected: Address,
  actual: Address,
  { sites, careful }: { sites: Sites; careful: boolean },
): boolean {
  const inPlace = (text: string): string => (text.startsWith("__") ? (sites.render(text) ?? text) : text);
  const fits = (pattern: Address, other: Address): boolean => {
    const inner = isPattern(pattern.base) ? inPlace(pattern.base.slice(1, -1)) : inPlace(pattern.base);
    return matches(`^${inner}$`, inPlace(other.base), { whole: false }) === true;
  };
  if (expected.pattern && fits(expected, actual)) return true;
  if (actual.pattern && !careful && fits(actual, expected)) return true;
  if (expected.pattern || actual.pattern) return false;
  const plain = (text: string): string => stripEnd(text.toLowerCase(), "/");
  return plain(expected.base) === plain(actual.base);
}
