import { rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, describe, expect, it } from "vitest";
import { openRunStore, type RunStore } from "../../../src/rollout/store/index.js";
import { graded, grading, lock, newFolder, ungraded } from "./support.js";

const folder = newFolder();
afterAll(() => rmSync(folder, { recursive: true }));

let stores = 0;
const newPath = (): string => join(folder, `${(stores += 1)}`, "runs.db");

/** A store of its own for a test, closed after it. */
function withStore(test: (store: RunStore) => void): void {
  const store = openRunStore(newPath());
  try {
    test(store);
  } finally {
    store.close();
  }
}

const code = (wanted: string) => expect.objectContaining({ code: wanted }) as Error;

describe("a run store", () => {
  it("gives back a run with its lock and labels as they were told", () => {
    withStore((store) => {
      const id = store.begin(lock, { note: "first", night: true });
      expect(store.run(id)).toMatchObject({
        id,
        lock,
        labels: { note: "first", night: true },
        status: "open",
        source: "played",
        ended: null,
        episodes: 0,
      });
      expect(store.runs().map((run) => run.id)).toEqual([id]);
      expect(store.runs({ model: "m-2" })).toEqual([]);
      expect(store.named(id.slice(0, 8)).id).toBe(id);
      expect(() => store.named("no")).toThrow(code("unknown_run"));
      expect(store.run("no")).toBeUndefined();
    });
  });

  it("gives back episodes whole, in another process's eyes too", () => {
    withStore((store) => {
      const id = store.begin(lock);
      const played = [graded("a", 0, 1), graded("a", 1, 0.25), ungraded("b", 0)];
      for (const one of played) store.add(id, one);
      expect(store.episodes(id)).toEqual(played);
      const reader = openRunStore(store.path, { readonly: true });
      expect(reader.episodes(id)).toEqual(played);
      expect(() => reader.begin(lock)).toThrow(code("store_missing"));
      reader.close();
    });
  });

  it("keeps every attempt, and counts the last", () => {
    withStore((store) => {
      const id = store.begin(lock);
      store.add(id, ungraded("a", 0));
      store.add(id, graded("a", 1, 1));
      store.add(id, graded("a", 0, 0, { attempt: 1 }));
      expect(store.episodes(id)).toHaveLength(3);
      expect(store.done(id)).toEqual([
        { task: "a", replica: 0, attempt: 1, status: "graded", reason: null },
        { task: "a", replica: 1, attempt: 0, status: "graded", reason: null },
      ]);
    });
  });

  it("says how a run ended, at last", () => {
    withStore((store) => {
      const id = store.begin(lock);
      store.end(id, "interrupted");
      expect(store.run(id)?.status).toBe("interrupted");
      store.end(id, "finished");
      expect(store.run(id)).toMatchObject({ status: "finished", ended: expect.any(Number) as number });
      expect(() => store.end("no", "failed")).toThrow(code("unknown_run"));
    });
  });

  it("refuses an attempt or an episode that is there, and then adds nothing of what came with it", () => {
    withStore((store) => {
      const id = store.begin(lock);
      const first = graded("a", 0, 1);
      store.add(id, first);
      expect(() => store.add(id, graded("a", 0, 0))).toThrow(code("store_conflict"));
      expect(() => store.add(id, { ...first, replica: 5 })).toThrow(code("store_conflict"));
      expect(() => store.addAll(id, [graded("a", 1, 1), first])).toThrow(code("store_conflict"));
      expect(() => store.add("no", first)).toThrow(code("unknown_run"));
      expect(store.episodes(id)).toEqual([first]);
    });
  });

  it("never takes a score without a verdict, nor a verdict without a score", () => {
    withStore((store) => {
      const id = store.begin(lock);
      const wrong = [
        graded("a", 0, 1.5),
        graded("a", 0, 1, { score: null }),
        graded("a", 0, 1, { passed: null }),
        ungraded("a", 0, { score: 0 }),
        ungraded("a", 0, { passed: false }),
      ];
      for (const one of wrong) expect(() => store.add(id, one)).toThrow(code("store_conflict"));
      expect(store.episodes(id)).toEqual([]);
    });
  });

  it("keeps what somebody told apart from what was seen", () => {
    withStore((store) => {
      const [played, told] = [store.begin(lock), store.begin(lock, {}, "reported")];
      const report = graded("a", 0, 1, { provenance: "self_reported", passed: null });
      expect(() => store.add(played, report)).toThrow(code("store_conflict"));
      expect(() => store.add(told, graded("a", 0, 1))).toThrow(code("store_conflict"));
      store.add(told, report);
      expect(store.episodes(told)).toEqual([report]);
    });
  });

  it("adds later gradings beside what was recorded", () => {
    withStore((store) => {
      const id = store.begin(lock);
      const one = graded("a", 0, 1);
      store.add(id, one);
      const [first, second] = [
        grading(one.episode, 0.5),
        grading(one.episode, 0, { verifier: "verifier-3" }),
      ];
      store.addGrading(first);
      store.addGrading(second);
      store.addGrading(grading("of no run", 1));
      expect(store.gradings().slice(0, 2)).toEqual([first, second]);
      expect(store.episodes(id)).toEqual([one]);
      expect(store.episodes(id, "regraded")).toMatchObject([
        { score: 0, provenance: "regraded", verifierVersion: "verifier-3", steps: 4 },
      ]);
    });
  });

  it.each(["runs", "run_ends", "episodes", "verdicts"])(
    "lets nobody change, remove or replace rows of %s",
    (table) => {
      const path = newPath();
      const store = openRunStore(path);
      const id = store.begin(lock);
      store.add(id, graded("a", 0, 1));
      store.end(id, "finished");
      store.close();
      const raw = new Database(path);
      const before = raw.prepare(`SELECT * FROM ${table}`).all();
      expect(before).toHaveLength(1);
      const [column = ""] = Object.keys(before[0] as object).slice(-1);
      for (const sql of [
        `UPDATE ${table} SET ${column} = ${column}`,
        `DELETE FROM ${table}`,
        `INSERT OR REPLACE INTO ${table} SELECT * FROM ${table}`,
        `REPLACE INTO ${table} SELECT * FROM ${table}`,
      ])
        expect(() => raw.exec(sql)).toThrow(/append-only/);
      expect(raw.prepare(`SELECT * FROM ${table}`).all()).toEqual(before);
      raw.close();
    },
  );
});

describe("a file that is opened as a run store", () => {
  it("is made where there is none, but not by a reader", () => {
    const path = newPath();
    expect(() => openRunStore(path, { readonly: true })).toThrow(code("store_missing"));
    openRunStore(path).close();
    expect(statSync(path).isFile()).toBe(true);
    openRunStore(path, { readonly: true }).close();
  });

  it("is refused where it is no store, and left as it was", () => {
    const text = join(folder, "text.db");
    writeFileSync(text, "nothing of the kind".repeat(100));
    expect(() => openRunStore(text)).toThrow(code("store_damaged"));
    const foreign = join(folder, "foreign.db");
    const raw = new Database(foreign);
    raw.exec("CREATE TABLE t (x)");
    raw.close();
    expect(() => openRunStore(foreign)).toThrow(code("store_damaged"));
    expect(() => openRunStore(folder)).toThrow(code("store_missing"));
  });

  it("is refused where a later version wrote it", () => {
    const path = newPath();
    openRunStore(path).close();
    const raw = new Database(path);
    raw.pragma("user_version = 999");
    raw.close();
    expect(() => openRunStore(path)).toThrow(code("store_version"));
  });
});
