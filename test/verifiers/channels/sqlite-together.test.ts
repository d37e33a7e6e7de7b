import initSqlJs from "sql.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { querySqliteAll } from "../../../src/verifiers/channels/sqlite/engine.js";
import type { DatabaseFiles } from "../../../src/verifiers/channels/sqlite/open.js";
import { Progress } from "../../../src/verifiers/channels/sqlite/progress.js";
import { askDatabase } from "../../../src/verifiers/channels/sqlite/together.js";
import { closePool, poolStats } from "../../../src/verifiers/index.js";
import { ContentFault } from "../../../src/verifiers/value.js";
import { grade } from "../support.js";

afterAll(closePool);

const counted = (to: string): string =>
  `with recursive r(i) as (select 1 union all select i + 1 from r${to}) select count(*) from r`;
const ENDLESS = counted("");
/** Some fifty milliseconds of work. */
const SLOW = counted(" limit 100000");

let files: DatabaseFiles;
const { signal: never } = new AbortController();
const ask = (sql: string, signal = never): Promise<unknown> =>
  askDatabase(files, { sql }, signal).then(({ rows }) => rows[0]?.[0]);

beforeAll(async () => {
  const writer = new (await initSqlJs()).Database();
  writer.run("create table t(n); insert into t values (1), (2), (3)");
  files = { key: -3, database: writer.export(), log: null, journal: null };
  writer.close();
});

describe("queries of one database at one moment", () => {
  it("get each its own answer, from fewer jobs than they are", async () => {
    const numbers = Array.from({ length: 30 }, (_, index) => index);
    const checks = numbers.map((n) => ({
      id: `c${n}`,
      channel: "sqlite",
      query: { kind: "number", path: "/x.db", sql: "select n from t where n = ?", bind: [n] },
      assert: { type: "number", equals: n },
    }));
    // A thread that is held up leaves the rest to others, so one time in a few may need more.
    let jobs = Number.POSITIVE_INFINITY;
    for (let time = 0; time < 5 && jobs >= checks.length; time++) {
      const before = poolStats().jobs;
      const verdict = await grade({ all: checks }, { files: { "/x.db": files.database } });
      expect(verdict.checks.map(({ status }) => status === "passed")).toEqual(
        numbers.map((n) => [1, 2, 3].includes(n)),
      );
      jobs = poolStats().jobs - before;
    }
    expect(jobs).toBeLessThan(checks.length);
  });

  it("fail each for its own reason", async () => {
    const all = ["select 1", "select x from t", "select 1 1", "select max(n) from t"].map((sql) => ask(sql));
    const [one, noColumn, noSql, most] = await Promise.allSettled(all);
    expect([one, most]).toMatchObject([{ value: 1 }, { value: 3 }]);
    expect(noColumn).toMatchObject({ reason: expect.any(ContentFault) as unknown });
    expect(noSql).toMatchObject({ reason: { code: "grader_error" } });
  });

  it("are not kept from their answers by one that never ends, wherever it stands among them", async () => {
    for (const place of [0, 1, 2]) {
      const deadline = new AbortController();
      const sqls = ["select 1", "select 2"];
      const all = [...sqls.slice(0, place), ENDLESS, ...sqls.slice(place)].map((sql) =>
        ask(sql, sql === ENDLESS ? deadline.signal : never),
      );
      const endless = all.splice(place, 1);
      expect(await Promise.all(all)).toEqual([1, 2]);
      deadline.abort(new Error("its deadline"));
      await expect(endless[0]).rejects.toThrow("its deadline");
    }
  });

  it("go on when one ends its thread at its deadline", async () => {
    const deadline = new AbortController();
    const all = [ask("select 1"), ask(ENDLESS, deadline.signal), ask("select count(*) from t")];
    setTimeout(() => deadline.abort(new Error("its deadline")), 20);
    await expect(all[1]).rejects.toThrow("its deadline");
    expect(await all[0]).toBe(1);
    expect(await all[2]).toBe(3);
  });

  it("are given up one by one", async () => {
    const given = new AbortController();
    given.abort(new Error("nobody waits"));
    const all = [ask("select 1", given.signal), ask("select 2"), ask("select 3")];
    await expect(all[0]).rejects.toThrow("nobody waits");
    expect(await Promise.all(all.slice(1))).toEqual([2, 3]);
  });

  it("that take long are left to other threads after the first", async () => {
    const questions = [{ sql: SLOW }, { sql: "select 1" }];
    expect(await querySqliteAll(files, questions, new Progress())).toEqual([
      { ok: { columns: ["count(*)"], rows: [[100_000]] } },
    ]);
    expect(await Promise.all([ask(SLOW), ask(SLOW), ask("select 1")])).toEqual([100_000, 100_000, 1]);
  });

  it("end with the threads", async () => {
    await ask("select 1");
    const all = [ask(ENDLESS), ask("select 1"), ask(ENDLESS)];
    setTimeout(() => void closePool(), 5);
    for (const one of all) await one.catch((error: unknown) => expect(error).toBeInstanceOf(Error));
    expect(poolStats().open).toBe(false);
  });
});
