import initSqlJs from "sql.js";
import { afterAll, describe, expect, it } from "vitest";
import { querySqlite } from "../../../src/verifiers/channels/sqlite/engine.js";
import { readSqlite } from "../../../src/verifiers/channels/sqlite/read.js";
import { closePool } from "../../../src/verifiers/index.js";
import { grade, graphOf } from "../support.js";

afterAll(closePool);

const none = { log: null, journal: null };
const check = (query: object) => ({
  id: "c",
  channel: "sqlite",
  query: { kind: "number", path: "/x.db", ...query },
  assert: { type: "number", equals: 1 },
  on_error: "fail",
});
const holds = (words: string): unknown => expect.stringContaining(words);
const load = (query: object) => graphOf(check(query));

describe("a query that is wrong whatever the database holds", () => {
  it.each([
    ["DELETE FROM t", "no SELECT: it says DELETE"],
    ["with x as (select 1) delete from t", "it says DELETE"],
    ["with x as (select 1) replace into t select * from x", "it says REPLACE"],
    ["PRAGMA user_version", "it says PRAGMA"],
    ["select 1; select 2", "more than one statement"],
    ["select 1;;'x'", "more than one statement"],
    ["-- nothing", "no statement"],
    ["/* open", "no statement"],
    [" ;", "no statement"],
    ["select 'open", "never closed"],
    ["select (1", "parentheses"],
    ["select 1) + (2", "parentheses"],
    ["select 1\0 from t", "NUL"],
    ["select date('now')", "date() of the present"],
    ["select DATE ( 'Now', '-1 day')", "date() of the present"],
    ["select date()", "date() of the present"],
    ["select strftime('%s')", "strftime() of the present"],
    ["select strftime('%s', 'now')", "strftime() of the present"],
    ["select timediff('2024-01-01', /* so */ 'now')", "timediff() of the present"],
    [`select "date"('now')`, "date() of the present"],
    ["select datetime(n, 'localtime') from t", "time zone"],
    ["select current_timestamp", "current_timestamp"],
    ["select n from t order by random()", "random()"],
    ["select randomblob(4)", "randomblob()"],
    ["select 1, 2", "2 columns instead of 1"],
    ["with x as (select 1, 2) select distinct a is distinct from b, (select 1) from x, y", "2 columns"],
    ["values (1, (2)), (3, 4)", "2 columns instead of 1"],
  ])("is refused at load: %j", (sql, why) => {
    expect(() => load({ sql })).toThrow(
      expect.objectContaining({
        code: "bad_task",
        path: holds("query.sql"),
        message: holds(why),
      }),
    );
  });

  it("is refused with the word that was meant", () => {
    expect(() => load({ sql: "SELEC 1" })).toThrow(
      expect.objectContaining({ code: "bad_task", suggestion: "did you mean SELECT?" }),
    );
  });

  it.each([
    [{ sql: "select ?", bind: [] }, "query.bind", "1 parameters and 0 values"],
    [{ sql: "select ?" }, "query.bind", "1 parameters and 0 values"],
    [{ sql: "select ?, ?2", bind: [1, 2, 3] }, "query.bind", "2 parameters and 3 values"],
    [{ sql: "select :n" }, "query.bind", "1 parameters and 0 values"],
    [{ sql: "select :n, :m", bind: { n: 1 } }, "query.bind", ":m has no value"],
    [{ sql: "select ?", bind: { n: 1 } }, "query.bind", "without a name"],
    [{ sql: "select 1", bind: { n: 1 } }, "query.bind.n", "no parameter :n"],
    [{ sql: "select ':n' -- :n", bind: { n: 1 } }, "query.bind.n", "no parameter :n"],
  ])("is refused for its binds: %j", (query, path, why) => {
    expect(() => load(query)).toThrow(
      expect.objectContaining({
        code: "bad_task",
        path: holds(path),
        message: holds(why),
      }),
    );
  });

  it("is refused with the parameter that was meant", () => {
    expect(() => load({ sql: "select :customer", bind: { custmer: 1 } })).toThrow(
      expect.objectContaining({ suggestion: 'did you mean "customer"?' }),
    );
  });

  it.each([
    { sql: "SELECT 1; -- one" },
    { sql: "select 1 ; /* and */ ;" },
    { sql: "-- a\nwith replace as (select 'delete; ''now''' as random) select count(random) from replace" },
    { sql: "values (1)" },
    { sql: "select 1 where date('2024-02-01', '-1 day') = '2024-01-31' and strftime('%Y', 0) < '0'" },
    { sql: `select count("current_date" + [random]) from (select 1 as "current_date", 2 as random)` },
    { sql: "select ?1 where ?2 = ?1 + ?", bind: [1, 3, 2] },
    { sql: "select $a where @b = :c", bind: { $a: 1, "@b": 2, c: 2 } },
    { sql: `select json_extract('{"a":1}', '$.a') where x'00' <> '' and '[1]' -> 0 = '1'` },
  ])("is not %j", async (query) => {
    expect(() => load(query)).not.toThrow();
    const seen = await querySqlite({ database: new Uint8Array(), ...none, ...query });
    expect(seen.rows).toEqual([[1]]);
  });

  it.each([
    ["select 1 form where 1 1", "syntax error"],
    ["select nothing_of_sqlite(1)", "no such function"],
    ["select abs(-9223372036854775808)", "integer overflow"],
    ["select json('{') union select 1", "malformed JSON"],
    ["select 'a' like 'a' escape 'ab'", "single character"],
  ])("is the grader's fault where only the engine can tell: %s", async (sql, why) => {
    const [result] = (await grade(check({ sql }), { files: { "/x.db": "" } })).checks;
    expect(result?.status).toBe("ungraded");
    expect(result?.evidence).toContain("grader_error");
    expect(result?.evidence).toContain(why);
  });

  it("is the grader's fault in a code node, also where there is no database", async () => {
    const query = { kind: "number" as const, path: "/x.db", sql: "select :n", bind: { m: 1 } };
    await expect(readSqlite(query, {} as never)).rejects.toMatchObject({ code: "grader_error" });
  });

  it("is none where another database would get further: that its content is no JSON, for one", async () => {
    const writer = new (await initSqlJs()).Database();
    writer.run("create table t(n); insert into t values ('{')");
    const files = { "/x.db": writer.export() };
    writer.close();
    const [result] = (await grade(check({ sql: "select json(n) from t" }), { files })).checks;
    expect(result?.status).toBe("failed");
    expect(result?.evidence).toContain("malformed JSON");
  });

  it("is none where another database would answer it", async () => {
    const [result] = (await grade(check({ sql: "select n from t" }), { files: { "/x.db": "" } })).checks;
    expect(result?.status).toBe("failed");
    expect(result?.evidence).toContain("no such table");
  });
});

describe("the columns of a single value", () => {
  it.each([
    "select 1",
    "select 1, 2",
    "select 2 * 3, a*b, count(*) from t",
    "select *, 1 from t",
    "select t.* from t, t as u",
    "select distinct a, b from t",
    "select distinct * from t",
    "select t.a is distinct from u.b, t.a is not distinct from u.b, 3 from t, t as u",
    "select (select 1 from t), (a, b) in (values (1, 2)), case a when 1 then 2 else 3 end from t",
    "select sum(a) filter (where a > 1) over (partition by a, b order by a, b) from t window w as (order by a, b)",
    "select a from t group by a, b having a > 1 order by a, b limit 1, 2",
    "select a, b from t where a in (1, 2) union select 1, 2",
    "with x(a, b) as (values (1, 2)), y as (select 1, 2, 3) select a, (select max(a, b) from y) from x, y",
    "values (1, 2, (select 3)), (4, max(5, 6), 7)",
    "select '*', \"a\", [a] from t",
  ])("are told before it is asked, as SQLite would count them, or not at all: %s", async (sql) => {
    const engine = new (await initSqlJs()).Database();
    engine.run("create table t(a, b)");
    const count = engine.prepare(sql).getColumnNames().length;
    engine.close();
    const told = () => load({ sql });
    if (count === 1 || sql.includes("*,") || sql.includes(".*") || sql.includes("distinct *")) told();
    else expect(told).toThrow(expect.objectContaining({ message: holds(`returns ${count} columns`) }));
  });
});

describe("what no reading of the query tells", () => {
  it("is the same for every query of one database", async () => {
    const writer = new (await initSqlJs()).Database();
    writer.run("create view v as select random() % 1000");
    const database = writer.export();
    writer.close();
    const look = () => querySqlite({ key: -1, database, ...none, sql: "select * from v" });
    const first = await look();
    expect(await look()).toEqual(first);
  });

  it("is the same at every run: the clock stands, the zone is UTC, random numbers are one sequence", async () => {
    const writer = new (await initSqlJs()).Database();
    writer.run(
      "create view v as select datetime('now'), datetime('now', 'localtime'), current_date, random() % 1000, hex(randomblob(8))",
    );
    const database = writer.export();
    writer.close();
    const look = () => querySqlite({ database, ...none, sql: "select * from v" });
    const first = await look();
    expect(await look()).toEqual(first);
    expect(first.rows[0]?.slice(0, 3)).toEqual(["1970-01-01 00:00:00", "1970-01-01 00:00:00", "1970-01-01"]);
  });
});
