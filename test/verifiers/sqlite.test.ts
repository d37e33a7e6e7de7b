import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import initSqlJs from "sql.js";
import { afterAll, describe, expect, it } from "vitest";
import { rollBack } from "../../src/verifiers/channels/sqlite/journal.js";
import { querySqlite } from "../../src/verifiers/channels/sqlite/engine.js";
import { dropInstance, takeInstance } from "../../src/verifiers/channels/sqlite/instances.js";
import { applyLog } from "../../src/verifiers/channels/sqlite/wal.js";
import { closePool } from "../../src/verifiers/index.js";
import { ContentFault } from "../../src/verifiers/value.js";
import type { MemoryMachine } from "../support/memory-sandbox.js";
import { grade } from "./support.js";

afterAll(closePool);

/** Python's sqlite3 is the writer whose files are read here; without it there is nothing to hold the reader against. */
const python = spawnSync("python3", ["-c", "import sqlite3"]).status === 0;
const LIMIT = 64 * 1024 * 1024;

/** Runs Python with `db` open at a fresh path and `copy()` to take the files at that moment; returns the copies. */
function write(script: string): Record<string, Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), "shinken-sqlite-"));
  try {
    const program = [
      "import sqlite3, shutil, glob, os, sys",
      "os.chdir(sys.argv[1])",
      "db = sqlite3.connect('x.db', isolation_level=None)",
      "def copy():",
      "    os.makedirs('out', exist_ok=True)",
      "    for f in glob.glob('x.db*'): shutil.copy(f, 'out')",
      script,
    ].join("\n");
    const done = spawnSync("python3", ["-c", program, folder], { encoding: "utf8" });
    if (done.status !== 0) throw new Error(done.stderr);
    const out = join(folder, "out");
    return Object.fromEntries(
      readdirSync(out).map((name) => [name, new Uint8Array(readFileSync(join(out, name)))]),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function machineOf(files: Record<string, Uint8Array>): MemoryMachine {
  return {
    files: Object.fromEntries(Object.entries(files).map(([name, bytes]) => [`/data/${name}`, bytes])),
  };
}

async function ask(files: Record<string, Uint8Array>, query: object, assert: object, more: object = {}) {
  const check = { id: "c", channel: "sqlite", query: { path: "/data/x.db", ...query }, assert, ...more };
  const [result] = (await grade(check, machineOf(files))).checks;
  return { status: result?.status, evidence: result?.evidence ?? "" };
}

const LIVE_LOG = `
db.execute("pragma journal_mode=wal")
db.execute("create table t(id integer primary key, name text, n)")
db.execute("insert into t values(1, 'old', 1)")
db.execute("pragma wal_checkpoint(truncate)")
db.execute("update t set name = 'new'")
for i in range(2, 301): db.execute("insert into t values(?, ?, ?)", (i, 'x' * 50, i))
db.execute("begin")
db.execute("delete from t")
copy()
`;

describe.skipIf(!python)("a database with a live write-ahead log", () => {
  it("shows what is committed in the log and not what is still open", async () => {
    const files = write(LIVE_LOG);
    expect(Object.keys(files).sort()).toEqual(expect.arrayContaining(["x.db", "x.db-wal"]));
    const seen = await ask(
      files,
      { kind: "table", sql: "select count(*), sum(id), min(name) from t" },
      { type: "table", rows: [[300, 45_150, "new"]] },
    );
    expect(seen.status, seen.evidence).toBe("passed");
  });

  it("shows the older state without its log: so the log is what made the difference", async () => {
    const files = write(LIVE_LOG);
    const seen = await ask(
      { "x.db": files["x.db"] as Uint8Array },
      { kind: "text", sql: "select name from t" },
      { type: "text", equals: "old" },
    );
    expect(seen.status, seen.evidence).toBe("passed");
  });

  it("is another one without its log, also for a thread that has the first one open", async () => {
    const files = write(LIVE_LOG);
    const bare = { "x.db": files["x.db"] as Uint8Array };
    const sql = "select count(*) from t";
    for (const [given, count] of [
      [files, 300],
      [bare, 1],
      [files, 300],
      [bare, 1],
    ] as const) {
      const seen = await ask(given, { kind: "number", sql }, { type: "number", equals: count });
      expect(seen.status, seen.evidence).toBe("passed");
    }
  });

  it("is found through a link", async () => {
    const machine = machineOf(write(LIVE_LOG));
    const linked = {
      files: {
        ...machine.files,
        "/home/agent/link.db": { type: "symlink" as const, target: "../../data/x.db" },
      },
    };
    const check = {
      id: "c",
      channel: "sqlite",
      query: { kind: "number", path: "/home/agent/link.db", sql: "select count(*) from t" },
      assert: { type: "number", equals: 300 },
    };
    expect((await grade(check, linked)).score).toBe(1);
  });

  it("shows the last whole commit where the log is torn at any byte", async () => {
    const files = write(`
db.execute("pragma journal_mode=wal")
db.execute("create table t(n)")
db.execute("pragma wal_checkpoint(truncate)")
for i in range(5): db.execute("insert into t values(?)", (i,))
copy()
`);
    const log = files["x.db-wal"] as Uint8Array;
    const database = files["x.db"] as Uint8Array;
    const frame = 24 + 4096;
    expect((log.length - 32) % frame).toBe(0);
    const commits = (log.length - 32) / frame;
    for (const keep of [0, 31, 32, 32 + frame - 1, 32 + frame, 32 + 3 * frame + 7, log.length]) {
      const whole = Math.max(0, Math.min(commits, Math.floor((keep - 32) / frame)));
      const result = await querySqlite({
        database,
        log: log.subarray(0, keep),
        journal: null,
        sql: "select count(*) from t",
      });
      expect(result.rows, `${keep} bytes`).toEqual([[whole]]);
    }
  });

  it("stops at a frame whose checksum is wrong", async () => {
    const files = write(LIVE_LOG);
    const log = (files["x.db-wal"] as Uint8Array).slice();
    log[32 + 24 + 100] = (log[32 + 24 + 100] ?? 0) ^ 1;
    const result = await querySqlite({
      database: files["x.db"] as Uint8Array,
      log,
      journal: null,
      sql: "select name from t",
    });
    expect(result.rows).toEqual([["old"]]);
  });

  it("reads a database that lives in its log alone", async () => {
    const files = write(`
db.execute("pragma journal_mode=wal")
db.execute("create table t(n)")
db.execute("insert into t values(7)")
copy()
`);
    const seen = await ask(files, { kind: "number", sql: "select n from t" }, { type: "number", equals: 7 });
    expect(seen.status, seen.evidence).toBe("passed");
  });
});

describe.skipIf(!python)("a database in the middle of a transaction", () => {
  it("shows the state before it, by its rollback journal", async () => {
    const files = write(`
db.execute("pragma cache_size=1")
db.execute("create table t(n, s)")
for i in range(200): db.execute("insert into t values(?, ?)", (i, 'x' * 500))
db.execute("begin exclusive")
db.execute("update t set n = -1, s = 'gone'")
db.execute("create table u as select * from t, (select 1 union select 2)")
copy()
`);
    const journal = files["x.db-journal"] as Uint8Array;
    expect(journal.length).toBeGreaterThan(512);
    expect(rollBack(files["x.db"] as Uint8Array, journal)).not.toEqual(files["x.db"]);
    const seen = await ask(
      files,
      { kind: "table", sql: "select count(*), min(n), min(length(s)) from t" },
      { type: "table", rows: [[200, 0, 500]] },
    );
    expect(seen.status, seen.evidence).toBe("passed");
    const absent = await ask(
      files,
      { kind: "number", sql: "select count(*) from sqlite_master where name = 'u'" },
      { type: "number", equals: 0 },
    );
    expect(absent.status, absent.evidence).toBe("passed");
  });
});

const SMALL = `
db.execute("create table t(name text, n, b)")
db.execute("insert into t values('a', 1, x'00ff'), ('b', null, null), ('c', 9007199254740993, null), ('d', '4', null)")
copy()
`;

describe.skipIf(!python)("a query", () => {
  const files = python ? write(SMALL) : {};
  it.each([
    [
      { kind: "number", sql: "select n from t where name = ?", bind: ["a"] },
      { type: "number", equals: 1 },
    ],
    [
      { kind: "text", sql: "select name from t where n = :n", bind: { n: 1 } },
      { type: "text", equals: "a" },
    ],
    [
      { kind: "column", sql: "select name from t order by 1" },
      { type: "list", equals: ["a", "b", "c", "d"] },
    ],
    [
      { kind: "table", sql: "select name, n from t where name in ('a','b') order by 1;" },
      {
        type: "table",
        rows: [
          ["a", 1],
          ["b", null],
        ],
      },
    ],
    [
      { kind: "number", sql: "select count(*) from t where name = ?", bind: ["x' or '1'='1"] },
      { type: "number", equals: 0 },
    ],
  ])("%j satisfies %j", async (query, assert) => {
    const { status, evidence } = await ask(files, query, assert);
    expect(status, evidence).toBe("passed");
  });

  it.each([
    [{ kind: "number", sql: "select n from t where name = 'b'" }, "returns NULL, not a number"],
    [{ kind: "number", sql: "select n from t where name = 'd'" }, "returns text, not a number"],
    [{ kind: "number", sql: "select n from t where name = 'c'" }, "cannot be held exactly"],
    [{ kind: "number", sql: "select n from t" }, "cannot be held exactly"],
    [{ kind: "number", sql: "select * from t limit 1" }, "3 columns instead of 1"],
    [{ kind: "number", sql: "select 1 union select 2" }, "2 rows instead of 1"],
    [{ kind: "number", sql: "select x from nowhere" }, "no such table"],
    [
      {
        kind: "number",
        sql: "with recursive r(i) as (select 1 union all select i+1 from r) select i from r",
      },
      "more than 10000 rows",
    ],
  ])("%j is ungraded: %s", async (query, why) => {
    const { status, evidence } = await ask(files, query, { type: "number", equals: 0 });
    expect(status).toBe("ungraded");
    expect(evidence).toContain(why);
  });

  it("that never ends is ungraded by its deadline, and the next check is graded", async () => {
    const endless = "with recursive r(i) as (select 1 union all select i+1 from r) select count(*) from r";
    const check = (id: string, sql: string, more: object) => ({
      id,
      channel: "sqlite",
      query: { kind: "number", path: "/data/x.db", sql },
      assert: { type: "number", equals: 4 },
      ...more,
    });
    const graph = {
      weighted: [
        check("endless", endless, { deadline_ms: 500 }),
        check("fine", "select count(*) from t", {}),
      ],
    };
    const verdict = await grade(graph, machineOf(files));
    expect(verdict.checks.map(({ status }) => status)).toEqual(["ungraded", "passed"]);
  });

  it("without a row, or without a database, fails the check", async () => {
    expect(
      (await ask(files, { kind: "number", sql: "select n from t where 0" }, { type: "number", min: 0 }))
        .status,
    ).toBe("failed");
    expect((await ask({}, { kind: "number", sql: "select 1" }, { type: "number", equals: 1 })).status).toBe(
      "failed",
    );
  });
});

describe("a hostile database", () => {
  it("is refused or answered, and never throws anything but a fault of its content", async () => {
    const base = python ? (write(SMALL)["x.db"] as Uint8Array) : new Uint8Array(4096);
    const edits = fc.array(fc.tuple(fc.nat({ max: base.length - 1 }), fc.nat({ max: 255 })), {
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(edits, async (changes) => {
        const database = base.slice();
        for (const [at, byte] of changes) database[at] = byte;
        try {
          await querySqlite({ database, log: null, journal: null, sql: "select * from t" });
        } catch (error) {
          expect(error).toBeInstanceOf(ContentFault);
        }
      }),
      { numRuns: 40 },
    );
  });

  it("leaves nothing in the memory that the next one gets", async () => {
    const secret = "the first database's secret";
    const writer = new (await initSqlJs()).Database();
    writer.run("create table t(s)");
    writer.run("insert into t values (?)", [secret]);
    const database = writer.export();
    writer.close();
    const instances = [];
    for (let round = 0; round < 4; round++) {
      const seen = await querySqlite({ database, log: null, journal: null, sql: "select s from t" });
      expect(seen.rows).toEqual([[secret]]);
      await new Promise((resolve) => setTimeout(resolve, 20));
      instances.push(await takeInstance());
    }
    for (const { memory } of instances) expect(Buffer.from(memory.buffer).includes(secret)).toBe(false);
    instances.forEach(dropInstance);
  });

  it("ends its own queries' instance with an error, and the next query is answered", async () => {
    const database = python ? (write(SMALL)["x.db"] as Uint8Array) : new Uint8Array(4096);
    const look = (sql: string) => querySqlite({ key: -2, database, log: null, journal: null, sql });
    await expect(look("select json(name) from t")).rejects.toBeInstanceOf(ContentFault);
    expect((await look("select count(*) from t")).rows).toEqual([[4]]);
  });

  it("cannot make the log or the journal write outside the copy", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        fc.uint8Array({ maxLength: 3_000 }),
        (database, tail) => {
          const log = new Uint8Array(32 + tail.length);
          const view = new DataView(log.buffer);
          view.setUint32(0, 0x377f0682);
          view.setUint32(4, 3_007_000);
          view.setUint32(8, 512);
          log.set(tail, 32);
          expect(applyLog(database, log, LIMIT).length).toBe(database.length);
          const journal = Uint8Array.of(0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7, ...tail);
          expect(rollBack(database, journal).length).toBeLessThanOrEqual(database.length + journal.length);
        },
      ),
    );
  });
});
