/** A database of every released schema version, migrated and read. */
import { copyFileSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import { afterAll, describe, expect, it } from "vitest";
import { openRunStore } from "../../../src/rollout/store/index.js";
import { migrations, schemaVersion } from "../../../src/rollout/store/schema/index.js";
import { newFolder, graded } from "./support.js";

const golden = join(dirname(fileURLToPath(import.meta.url)), "golden");
const files = readdirSync(golden).filter((name) => name.endsWith(".db"));
const expected = JSON.parse(readFileSync(join(golden, "expected.json"), "utf8")) as {
  runs: object[];
  played: object[];
  reported: object[];
  done: object[];
  gradings: object[];
};
const folder = newFolder();
afterAll(() => rmSync(folder, { recursive: true }));

function copyOf(name: string): string {
  const path = join(folder, name);
  copyFileSync(join(golden, name), path);
  return path;
}

/** The statements that made what is in a database, by name. */
function schemaOf(path: string): unknown[] {
  const raw = new Database(path, { readonly: true });
  const rows = raw.prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name").all();
  raw.close();
  return rows;
}

/** When the first of them was made differs between goldens. */
const timeless = (runs: readonly object[]): object[] =>
  runs.map((run) => ({ ...run, began: 0, ended: "ended" in run && run.ended !== null ? 0 : null }));

/** An episode of version 1, with what later versions tell of it. */
const withLater = (episode: object): object => ({ ...episode, dollars: null, account: null });

describe("the golden databases", () => {
  it("are of every schema version", () => {
    expect(files.sort()).toEqual(migrations.map((_, index) => `v${index + 1}.db`).sort());
  });

  it.each(files)("%s tells the same rows once it is migrated", (name) => {
    const store = openRunStore(copyOf(name));
    const runs = store.runs().sort((a, b) => (a.id < b.id ? -1 : 1));
    expect(timeless(runs)).toEqual(timeless(expected.runs));
    expect(store.episodes("played-1")).toEqual(expected.played.map(withLater));
    expect(store.episodes("reported-1")).toEqual(expected.reported.map(withLater));
    expect(store.done("played-1")).toEqual(expected.done);
    expect(store.gradings()).toEqual(expected.gradings);
    store.add("played-1", graded("c", 0, 1));
    expect(store.episodes("played-1")).toHaveLength(expected.played.length + 1);
    store.close();
  });

  it.each(files)("%s ends in the schema that a new file gets, and stays append-only", (name) => {
    const path = copyOf(name);
    openRunStore(path).close();
    const fresh = join(folder, `fresh-${name}`);
    openRunStore(fresh).close();
    expect(schemaOf(path)).toEqual(schemaOf(fresh));
    const raw = new Database(path);
    expect(raw.pragma("user_version", { simple: true })).toBe(schemaVersion);
    expect(raw.pragma("integrity_check", { simple: true })).toBe("ok");
    expect(() => raw.exec("DELETE FROM episodes")).toThrow(/append-only/);
    raw.close();
  });

  it("that are older are not migrated by a reader, who says so", () => {
    const path = copyOf("v1.db");
    const refused = expect.objectContaining({ code: "store_version" }) as Error;
    expect(() => openRunStore(path, { readonly: true })).toThrow(refused);
    openRunStore(path).close();
    openRunStore(path, { readonly: true }).close();
  });
});
