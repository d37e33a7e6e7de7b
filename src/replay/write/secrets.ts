/** What never enters a bundle: header values, secret variables and fields, and their values wherever they turn up again. */
import { under } from "../format/leaves.js";
import { namesSecret, plainName, secretVariable } from "./secret-names.js";
import { base64Forms, basicPassword, secretsIn } from "./secret-texts.js";

/** Stands where a secret stood. */
export const secretMark = "[secret]";

/** Ends of names of fields that hold headers, as a map, as pairs or with `name` and `value`: every value is taken for secret. */
const headerEnd = /headers$/;

/** Headers whose values are left out like all, but say nothing secret: they are not looked for elsewhere. */
const plainHeaders = new Set(
  [
    "accept",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "date",
    "etag",
    "host",
    "last-modified",
    "server",
    "transfer-encoding",
    "user-agent",
    "vary",
  ].map(plainName),
);

/** A credential within a header's value: after the name of its scheme, or of a cookie. */
const credential = /(?:^(?:bearer|basic|token|apikey)\s+|=)"?([^\s;,"]+)/gi;

/** Shorter values are not looked for elsewhere: they would blacken ordinary text. Code units. */
const shortest = 6;

/** Values, each in all its forms, that one session may teach; more are left out where they stand, and nowhere else. */
const valuesAtMost = 4_096;

type What = "plain" | "env" | "headers" | "secret";

/** One for each session: it remembers values that were secret once. */
export class Redactor {
  /** Whether anything secret has come by. */
  found = false;
  readonly #known = new Set<string>();
  /** As they are looked for: those that hold others first, else a part of them would stay. */
  #values: { text: string; bytes: Buffer }[] = [];
  readonly #variables: ReadonlySet<string>;

  /** `values` are secret from the start; `variables` are names of environment variables that are marked secret. */
  constructor(known: { values?: readonly string[]; variables?: readonly string[] } = {}) {
    for (const value of known.values ?? []) this.#remember(value);
    this.#variables = new Set(known.variables ?? []);
  }

  /** Takes note of the secrets in a value that is not to be cleaned yet; of `written` by an agent also of those that texts spell out. */
  learn(value: unknown, written = false): void {
    this.#learn(value, "plain", "");
    if (written) this.#read(value);
  }

  /** The value without secrets, and the paths where they stood. The same object if there were none. */
  clean(value: unknown, written = false): { value: unknown; paths: string[] } {
    // First learn, then clean: a field may come after a text that repeats it.
    this.learn(value, written);
    const paths: string[] = [];
    const clean = this.#clean(value, "", "plain", paths);
    this.found ||= paths.length > 0;
    return { value: clean, paths };
  }

  /** All texts of a value, for what they spell out. */
  #read(value: unknown): void {
    if (typeof value === "string") {
      if (value.length > shortest) for (const secret of secretsIn(value)) this.#remember(secret);
      return;
    }
    if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return;
    for (const item of Object.values(value)) this.#read(item);
  }

  #learn(value: unknown, what: What, header: string): void {
    if (typeof value !== "object" || value === null) {
      if (what === "secret" || what === "headers") this.#learnLeaf(value, header);
      return;
    }
    if (ArrayBuffer.isView(value)) return;
    if (Array.isArray(value)) {
      const [name, ...rest] = value as unknown[];
      // A header as a pair: its first is no secret.
      if (what === "headers" && value.length === 2 && typeof name === "string")
        for (const item of rest) this.#learn(item, what, name);
      else if (what === "env") for (const item of value) this.#learnVariable(item);
      else for (const item of value) this.#learn(item, what, header);
      return;
    }
    for (const key in value) {
      const item = (value as Record<string, unknown>)[key];
      const kind = this.#kind(key, what, value);
      if (kind !== "plain" || (typeof item === "object" && item !== null))
        this.#learn(item, kind, kind === "headers" && what === "headers" ? headerOf(key, value) : "");
    }
  }

  /** A variable of a list: `NAME=value`, `[name, value]`, or `{name, value}`. */
  #learnVariable(item: unknown): void {
    const [name, value] = variableOf(item);
    if (name !== null && this.#isSecretVariable(name)) this.#learn(value, "secret", "");
    else if (name === null) this.#learn(item, "env", "");
  }

  #isSecretVariable(name: string): boolean {
    return this.#variables.has(name) || secretVariable.test(name);
  }

  #learnLeaf(value: unknown, header: string): void {
    if (typeof value === "number" || typeof value === "bigint") this.#remember(String(value));
    if (typeof value !== "string" || plainHeaders.has(plainName(header))) return;
    this.#remember(value);
    for (const [, part] of value.matchAll(credential)) {
      this.#remember(part ?? "");
      this.#remember(basicPassword(part ?? ""));
    }
  }

  /** What a field's value is, by its name and what it lies in. */
  #kind(key: string, within: What, map: object): What {
    // The token that a logarithm of a probability belongs to is a piece of ordinary text.
    if (key === "token" && "logprob" in map) return "plain";
    if (within === "headers" && key === "name" && "value" in map) return "plain";
    if (within === "headers" || within === "secret") return within;
    if (within === "env") return this.#isSecretVariable(key) ? "secret" : "plain";
    return fieldKind(key);
  }

  #clean(value: unknown, path: string, what: What, paths: string[]): unknown {
    if (typeof value === "object" && value !== null) {
      if (value instanceof Uint8Array)
        return what === "plain" || what === "env" ? this.#bytes(value, path, paths) : this.#mark(path, paths);
      if (Array.isArray(value)) return this.#list(value, path, what, paths);
      return this.#map(value as Record<string, unknown>, path, what, paths);
    }
    const hidden = what === "secret" || what === "headers";
    if (hidden && value !== undefined && value !== null && value !== "") return this.#mark(path, paths);
    return typeof value === "string" ? this.#text(value, path, paths) : value;
  }

  #list(list: unknown[], path: string, what: What, paths: string[]): unknown[] {
    const pair = what === "headers" && list.length === 2 && typeof list[0] === "string";
    if (what === "env") return this.#environment(list, path, paths);
    let changed: unknown[] | null = null;
    for (let at = pair ? 1 : 0; at < list.length; at += 1) {
      const clean = this.#clean(list[at], under(path, at), what, paths);
      if (clean !== list[at]) (changed ??= [...list])[at] = clean;
    }
    return changed ?? list;
  }

  /** Variables as a list: names stay. */
  #environment(list: unknown[], path: string, paths: string[]): unknown[] {
    return list.map((item, at) => {
      const [name, value, put] = variableOf(item);
      const place = under(path, at);
      if (name === null || !this.#isSecretVariable(name)) return this.#clean(item, place, "plain", paths);
      if (value === "" || value === undefined || value === null) return item;
      return put(this.#mark(place, paths));
    });
  }

  #map(map: Record<string, unknown>, path: string, what: What, paths: string[]): Record<string, unknown> {
    let changed = false;
    const entries: [string, unknown][] = [];
    for (const [key, item] of Object.entries(map)) {
      // A name may be a secret too: of a file, or of a variable that a guest has turned around.
      const name = this.#values.length === 0 ? key : this.#text(key, path, paths);
      const clean = this.#clean(item, under(path, name), this.#kind(key, what, map), paths);
      changed ||= clean !== item || name !== key;
      entries.push([name, clean]);
    }
    return changed ? Object.fromEntries(entries) : map;
  }

  #mark(path: string, paths: string[]): string {
    paths.push(path);
    return secretMark;
  }

  #text(text: string, path: string, paths: string[]): string {
    let clean = text;
    for (const { text: value } of this.#values)
      if (clean.includes(value)) clean = clean.replaceAll(value, secretMark);
    if (clean !== text) paths.push(path);
    return clean;
  }

  /** Bytes that hold a secret are left out whole. */
  #bytes(bytes: Uint8Array, path: string, paths: string[]): Uint8Array | string {
    if (this.#values.length === 0) return bytes;
    const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return this.#values.some((value) => all.includes(value.bytes)) ? this.#mark(path, paths) : bytes;
  }

  #remember(value: string): void {
    for (const form of formsOf(value)) {
      if (form.length < shortest || form === secretMark || this.#known.has(form)) continue;
      if (this.#known.size >= valuesAtMost) return;
      this.#known.add(form);
      this.#values.push({ text: form, bytes: Buffer.from(form, "utf8") });
      this.#values.sort((a, b) => b.text.length - a.text.length);
    }
  }
}

/** As it is, and as programs write it: within JSON, within an address, without the line's end that a file had. */
function formsOf(value: string): string[] {
  const bare = value.trim();
  const quoted = JSON.stringify(bare).slice(1, -1);
  // In base64 a short value is too few characters to be told from others.
  const encoded = base64Forms(bare).filter((form) => form.length > shortest);
  try {
    const percent = encodeURIComponent(bare);
    const lower = percent.replaceAll(/%../g, (code) => code.toLowerCase());
    const all = percent.replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
    return [value, bare, quoted, percent, lower, all, percent.replaceAll("%20", "+"), ...encoded];
  } catch {
    // Half a surrogate pair cannot stand in an address.
    return [value, bare, quoted, ...encoded];
  }
}

/**
 * Name and value of a variable in a list of them, and the item with another value. No name
 * where the item is of no such shape.
 */
function variableOf(item: unknown): [name: string | null, value: unknown, put: (value: string) => unknown] {
  const same = (): unknown => item;
  if (typeof item === "string") {
    const at = item.indexOf("=");
    if (at < 0) return [null, item, same];
    const name = item.slice(0, at);
    return [name, item.slice(at + 1), (value) => `${name}=${value}`];
  }
  if (Array.isArray(item)) {
    const [name, old] = item as unknown[];
    if (item.length === 2 && typeof name === "string") return [name, old, (value) => [name, value]];
  }
  if (typeof item === "object" && item !== null && "value" in item) {
    const { name, key } = item as { name?: unknown; key?: unknown };
    const told = typeof name === "string" ? name : key;
    if (typeof told === "string") return [told, item.value, (value) => ({ ...item, value })];
  }
  return [null, item, same];
}

const kinds = new Map<string, What>();

/** Fields have few names, and each is looked at a thousand times. */
function fieldKind(key: string): What {
  const known = kinds.get(key);
  if (known !== undefined) return known;
  const name = plainName(key);
  const kind: What = headerEnd.test(name)
    ? "headers"
    : name === "env" || name === "environment"
      ? "env"
      : namesSecret(key)
        ? "secret"
        : "plain";
  if (kinds.size < 4_096) kinds.set(key, kind);
  return kind;
}

/** Which header a field tells of. */
function headerOf(key: string, map: object): string {
  return key === "value" && "name" in map ? String(map.name) : key;
}
