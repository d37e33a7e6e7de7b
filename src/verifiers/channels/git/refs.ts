/** Refs of a repository, and what a name stands for. */
import { decodeText } from "../../parse/text.js";
import { ContentFault } from "../../value.js";
import { readCommit, taggedBy } from "./contents.js";
import type { ObjectStore } from "./objects.js";

/** Symbolic refs, and tags, one upon the other. */
const CHAIN_LIMIT = 8;
const HASH = /^[0-9a-f]{40}$/;

export interface Head {
  /** The branch that HEAD is on, without `refs/heads/`; null if it is on a commit. */
  branch: string | null;
  /** Null on a branch without a commit. */
  commit: string | null;
}

export class Refs {
  private readonly files: ReadonlyMap<string, Uint8Array>;
  private readonly what: string;
  private readonly packed = new Map<string, string>();
  /** Commits at which a shallow clone ends. */
  readonly shallow: ReadonlySet<string>;

  constructor(files: ReadonlyMap<string, Uint8Array>, what: string) {
    this.files = files;
    this.what = what;
    for (const line of this.linesOf("packed-refs")) {
      const [, hash, name] = /^([0-9a-f]{40}) (\S.*)$/.exec(line) ?? [];
      if (hash !== undefined && name !== undefined) this.packed.set(name, hash);
    }
    this.shallow = new Set(this.linesOf("shallow"));
  }

  private linesOf(name: string): string[] {
    const bytes = this.files.get(name);
    return bytes === undefined ? [] : decodeText(bytes, `${this.what}: ${name}`).split("\n");
  }

  /** What a ref's own file or line says. */
  private said(name: string): { hash: string } | { symbolic: string } | null {
    const bytes = this.files.get(name);
    if (bytes === undefined) {
      const hash = this.packed.get(name);
      return hash === undefined ? null : { hash };
    }
    const text = decodeText(bytes, `${this.what}: ${name}`).trim();
    if (HASH.test(text)) return { hash: text };
    const symbolic = /^ref: *(\S.*)$/.exec(text)?.[1];
    if (symbolic === undefined) throw new ContentFault(`${this.what}: the ref ${name} is damaged`);
    return { symbolic };
  }

  /** The object of a ref, by its whole name; null where none is. */
  private hashOf(name: string): string | null {
    let current = name;
    for (let step = 0; step < CHAIN_LIMIT; step++) {
      const said = this.said(current);
      if (said === null) return null;
      if ("hash" in said) return said.hash;
      current = said.symbolic;
    }
    throw new ContentFault(`${this.what}: the ref ${name} goes over more than ${CHAIN_LIMIT} others`);
  }

  head(): Head {
    const said = this.said("HEAD");
    if (said === null) throw new ContentFault(`${this.what} has no HEAD`);
    if ("hash" in said) return { branch: null, commit: said.hash };
    return { branch: said.symbolic.replace(/^refs\/heads\//, ""), commit: this.hashOf("HEAD") };
  }

  /** Names below a prefix such as `refs/heads/`, without it, and their objects; sorted. */
  below(prefix: string): [string, string][] {
    const names = new Set(
      [...this.files.keys(), ...this.packed.keys()].filter((name) => name.startsWith(prefix)),
    );
    return [...names].sort().flatMap((name): [string, string][] => {
      const hash = this.hashOf(name);
      return hash === null ? [] : [[name.slice(prefix.length), hash]];
    });
  }

  /** The commit that an expression means: a ref or hash, then any `~n` and `^n`. Null where it means none. */
  commitOf(expression: string, store: ObjectStore): string | null {
    const [, name = "", steps = ""] = /^([^~^]+)(.*)$/s.exec(expression) ?? [];
    const object = this.objectOf(name, store);
    let commit = object === null ? null : this.peel(object, store);
    for (const [, sign, digits] of steps.matchAll(/([~^])(\d*)/g)) {
      const count = digits === "" ? 1 : Number(digits);
      for (let step = 0; commit !== null && step < (sign === "~" ? count : 1); step++)
        commit =
          sign === "^" && count === 0 ? commit : this.parentOf(commit, sign === "^" ? count : 1, store);
    }
    return commit;
  }

  parentOf(commit: string, number: number, store: ObjectStore): string | null {
    if (this.shallow.has(commit)) return null;
    return readCommit(store, commit, this.what).parents[number - 1] ?? null;
  }

  private objectOf(name: string, store: ObjectStore): string | null {
    if (HASH.test(name)) return store.has(name) ? name : null;
    const whole = name === "HEAD" || name === "@" ? ["HEAD"] : [];
    const places = ["", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"].map(
      (prefix) => `${prefix}${name}`,
    );
    for (const place of [...whole, ...places.filter((one) => one.startsWith("refs/"))]) {
      const hash = this.hashOf(place);
      if (hash !== null) return hash;
    }
    if (!/^[0-9a-f]{7,39}$/.test(name)) return null;
    const found = store.startingWith(name);
    if (found.length > 1) throw new ContentFault(`${this.what}: ${found.length} objects begin with ${name}`);
    return found[0] ?? null;
  }

  /** The commit that a tag, or a tag of a tag, is on. */
  peel(object: string, store: ObjectStore): string {
    let current = object;
    for (let step = 0; step < CHAIN_LIMIT && store.read(current).kind === "tag"; step++)
      current = taggedBy(store, current, this.what);
    const { kind } = store.read(current);
    if (kind !== "commit")
      throw new ContentFault(`${this.what}: object ${current} is a ${kind}, not a commit`);
    return current;
  }
}
