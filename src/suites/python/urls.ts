/** URLs as Python's `urllib.parse` takes them apart: no normalising, and never a refusal but of a bracket that is not closed. */
import { isIPv4, isIPv6 } from "node:net";
import { fault, given, type Outcome } from "../scorer.js";

export interface UrlParts {
  scheme: string;
  netloc: string;
  /** Without what stands behind the last `;` of its last segment, for the schemes that know parameters. */
  path: string;
  params: string;
  query: string;
  fragment: string;
}

const knowsParams = new Set(
  "|ftp|hdl|prospero|http|imap|https|shttp|rtsp|rtsps|rtspu|sip|sips|mms|sftp|tel".split("|"),
);

const controls = /^[\u0000-\u0020]+/;
const lineMarks = /[\t\r\n]/g;
const schemePattern = /^([A-Za-z][A-Za-z0-9+.-]*):/;
/** Marks that would become delimiters of a host when it is normalised. */
const delimiters = /[/?#@:]/;

/** `urllib.parse.urlparse(url)`, or its ValueError. */
export function parseUrl(url: string): Outcome<UrlParts> {
  let rest = url.replace(controls, "").replace(lineMarks, "");
  const scheme = schemePattern.exec(rest)?.[1] ?? "";
  if (scheme !== "") rest = rest.slice(scheme.length + 1);
  let netloc = "";
  if (rest.startsWith("//")) {
    const end = rest.slice(2).search(/[/?#]/);
    netloc = end === -1 ? rest.slice(2) : rest.slice(2, end + 2);
    rest = end === -1 ? "" : rest.slice(end + 2);
    const wrong = wrongBrackets(netloc);
    if (wrong !== undefined) return fault("ValueError", wrong);
  }
  if (hidesDelimiters(netloc)) {
    return fault("ValueError", `netloc '${netloc}' contains invalid characters under NFKC normalization`);
  }
  const [beforeFragment, fragment] = cut(rest, "#");
  const [beforeQuery, query] = cut(beforeFragment, "?");
  const [path, params] = knowsParams.has(scheme.toLowerCase())
    ? withoutParams(beforeQuery)
    : [beforeQuery, ""];
  return given({ scheme: scheme.toLowerCase(), netloc, path, params, query, fragment });
}

/** What Python has against the brackets of a host: only an IPv6 or a future address may stand in them. */
function wrongBrackets(netloc: string): string | undefined {
  const opens = netloc.indexOf("[");
  if ((opens === -1) !== !netloc.includes("]")) return "Invalid IPv6 URL";
  if (opens === -1) return undefined;
  const host = netloc.slice(opens + 1).split("]")[0] ?? "";
  if (host.startsWith("v")) {
    return /^v[a-fA-F0-9]+\..+$/.test(host) ? undefined : "IPvFuture address is invalid";
  }
  if (isIPv6(host)) return undefined;
  return isIPv4(host)
    ? "An IPv4 address cannot be in brackets"
    : `'${host}' does not appear to be an IPv4 or IPv6 address`;
}

/** Before and after the first mark. */
function cut(text: string, mark: string): [before: string, after: string] {
  const at = text.indexOf(mark);
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function withoutParams(path: string): [path: string, params: string] {
  const at = path.indexOf(";", Math.max(0, path.lastIndexOf("/")));
  return at === -1 ? [path, ""] : [path.slice(0, at), path.slice(at + 1)];
}

function hidesDelimiters(netloc: string): boolean {
  if (/^[\u0000-\u007f]*$/.test(netloc)) return false;
  const bare = netloc.replace(/[@:#?]/g, "");
  const normal = bare.normalize("NFKC");
  return normal !== bare && delimiters.test(normal);
}

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** `urllib.parse.unquote(text)`: what is no UTF-8 becomes U+FFFD. */
export function unquote(text: string): string {
  return text.replace(/(?:%[0-9A-Fa-f]{2})+/g, (run) =>
    utf8.decode(Uint8Array.from(run.slice(1).split("%"), (pair) => Number.parseInt(pair, 16))),
  );
}

/** `urllib.parse.parse_qs(query)`; names without a value count only if `blank` says so. */
export function parseQuery(query: string, { blank = false } = {}): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const pair of query.split("&")) {
    if (pair === "") continue;
    const [name, value] = cut(pair, "=");
    if (value === "" && !blank) continue;
    const key = unquote(name.replaceAll("+", " "));
    const values = found.get(key) ?? [];
    values.push(unquote(value.replaceAll("+", " ")));
    found.set(key, values);
  }
  return found;
}

/** `urllib.parse.urlunparse` without parameters. */
export function unparseUrl({ scheme, netloc, path, query, fragment }: Omit<UrlParts, "params">): string {
  const rooted = netloc !== "" && path !== "" && !path.startsWith("/") ? `/${path}` : path;
  const placed = netloc !== "" || rooted.startsWith("//") ? `//${netloc}${rooted}` : rooted;
  return (
    (scheme === "" ? "" : `${scheme}:`) +
    placed +
    (query === "" ? "" : `?${query}`) +
    (fragment === "" ? "" : `#${fragment}`)
  );
}
