/**
 * Secrets that a text tells of by how it spells them: variables and options of shell commands, raw headers, addresses. Looked for in what
 * an agent writes (actions, and what its model read and wrote), not in all that a guest says.
 */
import { namesSecret, secretVariable } from "./secret-names.js";

/** A word of a shell: in quotes, or up to what ends a word. What the shell would put in (`$`, backticks) is not the secret itself. */
const word = String.raw`("(?:[^"\\$\x60]|\\.)*"|'[^']*'|[^\s;&|<>"'\x60$()]+)`;

/** `NAME=value`, alone, before a command, or after `export` or `-e`. Variables are written large: `token=` is any program's. */
const assignment = new RegExp(String.raw`(?<![\w$?&.-])([A-Z_][A-Z0-9_]{0,127})=${word}`, "g");

/** `--name=value` and `--name value`. */
const option = new RegExp(String.raw`(?<![\w-])--([A-Za-z][\w-]{0,63})(?:=|[ \t]+(?!-))${word}`, "g");

/** `curl -u user:password`. */
const curlUser = new RegExp(
  String.raw`\bcurl\b[^\n;|&]{0,512}?\s(?:-u|--user)(?:=|[ \t]*)["']?[^\s:"']{0,128}:${word}`,
  "g",
);

/** A header line within a text, its value with scheme. */
const authorization =
  /\b(?:proxy-)?authorization["']?\s*:\s*["']?(?:bearer|basic|token|apikey)\s+([^\s"'\\,;]+)/gi;
const keyHeader = /\bx-[a-z-]{0,64}(?:key|token|secret)["']?\s*:\s*["']?([^\s"'\\,;]+)/gi;
const cookieHeader = /\b(?:set-)?cookie\s*:\s*([^\r\n"'\\]+)/gi;
const cookieValue = /=([^\s;,]+)/g;

/** `scheme://user:password@`, and `?token=value` of names that tell. */
const userinfo = /\b[a-z][a-z0-9+.-]{1,30}:\/\/[^\s/?#@"'<>:]{0,256}:([^\s/?#@"'<>]{1,1024})@/gi;
const parameter = /[?&]([\w-]{1,64})=([^\s&#"'<>$]+)/g;

/** Values that are secret by where they stand in the text, as they stand there and decoded. */
export function secretsIn(text: string): string[] {
  const found: string[] = [];
  const add = (value: string | undefined): void => {
    const bare = unquoted(value ?? "");
    if (bare === "") return;
    found.push(bare);
    const decoded = percentDecoded(bare);
    if (decoded !== bare) found.push(decoded);
  };
  if (text.includes("=")) {
    for (const [, name = "", value] of text.matchAll(assignment)) if (secretVariable.test(name)) add(value);
    for (const [, name = "", value] of text.matchAll(parameter)) if (namesSecret(name)) add(value);
  }
  if (text.includes("--"))
    for (const [, name = "", value] of text.matchAll(option)) if (namesSecret(name)) add(value);
  if (text.includes("curl")) for (const [, value] of text.matchAll(curlUser)) add(value);
  if (text.includes("://")) for (const [, value] of text.matchAll(userinfo)) add(value);
  if (!text.includes(":")) return found;
  for (const [, value] of text.matchAll(authorization)) {
    add(value);
    add(basicPassword(value ?? ""));
  }
  for (const [, value] of text.matchAll(keyHeader)) add(value);
  for (const [, line = ""] of text.matchAll(cookieHeader))
    for (const [, value] of line.matchAll(cookieValue)) add(value);
  return found;
}

/** The password that Basic credentials hold; nothing of what is none. */
export function basicPassword(credentials: string): string {
  if (!/^[A-Za-z0-9+/]{4,}={0,2}$/.test(credentials)) return "";
  const text = Buffer.from(credentials, "base64").toString("utf8");
  const colon = text.indexOf(":");
  return colon < 0 || text.includes("\ufffd") ? "" : text.slice(colon + 1);
}

/** The characters of base64 that a value has in them wherever it begins among the three bytes of a group; both alphabets. */
export function base64Forms(value: string): string[] {
  const bytes = Buffer.from(value, "utf8");
  const forms: string[] = [];
  for (const before of [0, 1, 2]) {
    const all = Buffer.concat([Buffer.alloc(before), bytes])
      .toString("base64")
      .replace(/=+$/, "");
    // Characters that bytes before or behind have a part in are not the value's alone.
    const own = all.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.byteLength) * 8) / 6));
    forms.push(own, own.replaceAll("+", "-").replaceAll("/", "_"));
  }
  return forms;
}

function unquoted(value: string): string {
  const [first] = value;
  if (value.length < 2 || (first !== '"' && first !== "'") || value.at(-1) !== first) return value;
  const inner = value.slice(1, -1);
  return first === '"' ? inner.replaceAll(/\\(.)/g, "$1") : inner;
}

function percentDecoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
