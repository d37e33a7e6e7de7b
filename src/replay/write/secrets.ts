/** What never enters a bundle: header values, secret variables and fields, and their values wherever they turn up again. */

/** Stands where a secret stood. */
export const secretMark = "[secret]";

/** Fields that hold a credential, whatever they lie in. Compared without case, hyphens and underscores. */
const secretFields = new Set(
  [
    "authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
    "password",
    "passwd",
    "passphrase",
    "secret",
    "client-secret",
    "api-key",
    "x-api-key",
    "access-key",
    "secret-key",
    "access-token",
    "refresh-token",
    "id-token",
    "auth-token",
    "bearer-token",
    "private-key",
    "token",
  ].map(plainName),
);

/** Names of variables whose values are taken for secret though nobody marked them. */
const secretVariable =
  /(^|_)(TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|API_?KEY|ACCESS_KEY|PRIVATE_KEY|AUTH|COOKIE)(_|$)/i;

/** Fields whose values are maps of headers: every value in them is taken for secret. */
const headerFields = new Set(["headers", "requestheaders", "responseheaders"]);

/** Shorter values are not looked for elsewhere: they would blacken ordinary text. */
const shortest = 6;

/** One for each session: it remembers values that were secret once. */
export class Redactor {
  readonly #values = new Set<string>();
  readonly #variables: ReadonlySet<string>;

  /** `values` are secret from the start; `variables` are names of environment variables that are marked secret. */
  constructor(known: { values?: readonly string[]; variables?: readonly string[] } = {}) {
    for (const value of known.values ?? []) this.#remember(value);
    this.#variables = new Set(known.variables ?? []);
  }

  /** The value without secrets, and the paths where they stood. The same object if there were none. */
  clean(value: unknown): { value: unknown; paths: string[] } {
    const paths: string[] = [];
    return { value: this.#clean(value, "", "", paths), paths };
  }

  #clean(value: unknown, path: string, within: string, paths: string[]): unknown {
    if (typeof value === "string") return this.#text(value, path, paths);
    if (value instanceof Uint8Array) return this.#bytes(value, path, paths);
    if (typeof value !== "object" || value === null) return value;
    let changed = false;
    if (Array.isArray(value)) {
      const items = value.map((item, at) => {
        const clean = this.#clean(item, `${path}/${at}`, within, paths);
        changed ||= clean !== item;
        return clean;
      });
      return changed ? items : value;
    }
    const entries = Object.entries(value).map(([key, item]): [string, unknown] => {
      const at = `${path}/${key}`;
      let clean: unknown;
      if (this.#isSecret(key, within) && typeof item !== "object" && item !== undefined && item !== "") {
        if (typeof item === "string") this.#remember(item);
        paths.push(at);
        clean = secretMark;
      } else clean = this.#clean(item, at, plainName(key), paths);
      changed ||= clean !== item;
      return [key, clean];
    });
    return changed ? Object.fromEntries(entries) : value;
  }

  #isSecret(key: string, within: string): boolean {
    if (headerFields.has(within)) return true;
    if (within === "env") return this.#variables.has(key) || secretVariable.test(key);
    return secretFields.has(plainName(key));
  }

  #text(text: string, path: string, paths: string[]): string {
    let clean = text;
    for (const value of this.#values) if (clean.includes(value)) clean = clean.replaceAll(value, secretMark);
    if (clean !== text) paths.push(path);
    return clean;
  }

  /** Bytes that hold a secret are left out whole. */
  #bytes(bytes: Uint8Array, path: string, paths: string[]): Uint8Array | string {
    const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (const value of this.#values) {
      if (!all.includes(value)) continue;
      paths.push(path);
      return secretMark;
    }
    return bytes;
  }

  #remember(value: string): void {
    if (value.length >= shortest && value !== secretMark) this.#values.add(value);
  }
}

function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, "");
}
