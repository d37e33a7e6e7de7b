/** Answers queries about a copied repository, in a verifier thread. */
import { decodeText } from "../../parse/text.js";
import { type Answer, ContentFault } from "../../value.js";
import type { Parser } from "../parsers.js";
import { type Commit, dateText, readCommit, readTree, SUBMODULE, type TreeFile } from "./contents.js";
import { readIndex } from "./index-file.js";
import { readLog } from "./log.js";
import { ObjectStore } from "./objects.js";
import type { GitQuery } from "./query.js";
import { Refs } from "./refs.js";
import { type Snapshot, unpackSnapshot } from "./snapshot.js";
import { changedPaths, Ignored, statusRows, withoutSubmodules, workTree } from "./work.js";

/** Parses what `packSnapshot` made. */
export const parseGit: Parser<GitQuery> = (bytes, query, what) =>
  answerGit(unpackSnapshot(bytes), query, what);

/** Throws `ContentFault` for a repository that is damaged, or of a kind that is not read. */
export function answerGit(snapshot: Snapshot, query: GitQuery, what: string): Answer {
  refuseFormats(snapshot, what);
  const repository = new Repository(snapshot, what);
  switch (query.kind) {
    case "head":
      return { type: "json", value: { ...repository.refs.head() } };
    case "branches":
      return { type: "table", columns: ["name", "hash"], rows: repository.refs.below("refs/heads/") };
    case "tags":
      return { type: "table", columns: ["name", "hash"], rows: repository.tags() };
    case "status":
      return { type: "table", columns: ["path", "staged", "unstaged"], rows: repository.status() };
    case "diff":
      return repository.diff(query.from, query.to);
  }
  const commit = repository.commit(query.ref);
  if (commit === null) return noCommit(what, query.ref);
  return repository.about(commit, query);
}

const noCommit = (what: string, ref: string): Answer => ({ absent: `${what} has no commit ${ref}` });

/** Reads the few settings that say how a repository is stored. */
function refuseFormats({ files }: Snapshot, what: string): void {
  const config = files.get("config");
  if (config === undefined) return;
  let section = "";
  for (const line of decodeText(config, `${what}: config`).split("\n")) {
    section = /^\s*\[\s*([^\]]*?)\s*\]/.exec(line)?.[1]?.toLowerCase() ?? section;
    const [, key = "", value = ""] =
      /^\s*(?:\[[^\]]*\])?\s*([A-Za-z]+)\s*=\s*"?([^"#;]*?)"?\s*(?:[#;].*)?$/.exec(line) ?? [];
    if (section !== "extensions") continue;
    const name = key.toLowerCase();
    if (name === "objectformat" && value.toLowerCase() !== "sha1")
      throw new ContentFault(`${what} is a repository with ${value.slice(0, 40)} names; only SHA-1 is read`);
    if (name === "refstorage" && value.toLowerCase() !== "files")
      throw new ContentFault(`${what} keeps its refs as ${value.slice(0, 40)}; only files are read`);
  }
}

class Repository {
  readonly refs: Refs;
  private readonly store: ObjectStore;
  private readonly snapshot: Snapshot;
  private readonly what: string;

  constructor(snapshot: Snapshot, what: string) {
    this.snapshot = snapshot;
    this.what = what;
    this.store = new ObjectStore(snapshot.files, what);
    this.refs = new Refs(snapshot.files, what);
  }

  commit(ref: string): Commit | null {
    const hash = this.refs.commitOf(ref, this.store);
    return hash === null ? null : readCommit(this.store, hash, this.what);
  }

  /** Tags and the commits that they are on in the end; those on something else are left out. */
  tags(): [string, string][] {
    return this.refs.below("refs/tags/").map(([name, hash]) => [name, this.refs.peel(hash, this.store)]);
  }

  about(commit: Commit, query: Extract<GitQuery, { ref: string }>): Answer {
    switch (query.kind) {
      case "log":
        return { type: "table", columns: LOG_COLUMNS, rows: this.log(commit, query).map(logRow) };
      case "commit":
        return { type: "json", value: commitJson(commit) };
      case "tree":
        return { type: "list", value: [...this.tree(commit).keys()].sort() };
      case "text":
        return this.text(commit, query.file, query.ref);
    }
  }

  private log(commit: Commit, query: Extract<GitQuery, { kind: "log" }>): Commit[] {
    return readLog(commit.hash, query, this.store, this.refs, this.what);
  }

  private tree(commit: Commit): Map<string, TreeFile> {
    return readTree(this.store, commit.tree, this.what);
  }

  private text(commit: Commit, file: string, ref: string): Answer {
    const found = this.tree(commit).get(file);
    if (found === undefined || found.mode === SUBMODULE)
      return { absent: `${this.what}: there is no ${file} at ${ref}` };
    return {
      type: "text",
      value: decodeText(this.store.readKind(found.hash, "blob"), `${this.what}: ${file} at ${ref}`),
    };
  }

  diff(from: string, to: string | undefined): Answer {
    const before = this.commit(from);
    if (before === null) return noCommit(this.what, from);
    if (to === undefined) {
      const tracked = withoutSubmodules(this.tree(before));
      const listed = readIndex(this.snapshot.files.get("index"), this.what).files;
      // As git does: files that nobody has added are no change.
      const work = [...this.work()].filter(([path]) => tracked.has(path) || listed.has(path));
      return { type: "list", value: changedPaths(tracked, new Map(work)) };
    }
    const after = this.commit(to);
    if (after === null) return noCommit(this.what, to);
    return { type: "list", value: changedPaths(this.tree(before), this.tree(after)) };
  }

  private work(): Map<string, TreeFile> {
    return workTree(this.snapshot.work ?? []);
  }

  status(): [string, string, string][] {
    const head = this.refs.head().commit;
    const tracked =
      head === null ? new Map<string, TreeFile>() : this.tree(readCommit(this.store, head, this.what));
    const index = readIndex(this.snapshot.files.get("index"), this.what);
    return statusRows(withoutSubmodules(tracked), index, this.work(), new Ignored(this.snapshot));
  }
}

const LOG_COLUMNS = ["hash", "parents", "author", "email", "date", "subject"];

/** The first paragraph on one line, as git shows it. */
function subjectOf(message: string): string {
  return (message.replace(/^\n+/, "").split(/\n[ \t]*\n/)[0] ?? "").split("\n").join(" ").trim();
}

function logRow({ hash, parents, author, message }: Commit): string[] {
  return [hash, parents.join(" "), author.name, author.email, dateText(author), subjectOf(message)];
}

function commitJson({ hash, tree, parents, author, committer, message }: Commit) {
  const person = (one: typeof author) => ({ name: one.name, email: one.email, date: dateText(one) });
  return {
    hash,
    tree,
    parents,
    author: person(author),
    committer: person(committer),
    subject: subjectOf(message),
    message,
  };
}
