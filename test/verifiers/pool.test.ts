import { afterEach, describe, expect, it } from "vitest";
import { judgeInPool, parseInPool, sqliteInPool } from "../../src/verifiers/pool.js";
import { closePool, poolStats, warmPool } from "../../src/verifiers/index.js";
import { ContentFault } from "../../src/verifiers/value.js";
import { grade, textCheck } from "./support.js";

afterEach(closePool);

describe("the verifier threads", () => {
  it("are not started by small comparisons", async () => {
    const before = poolStats().jobs;
    await grade({ all: [textCheck("a", "/a", { equals: "a" })] }, { files: { "/a": "a" } });
    expect(poolStats()).toMatchObject({ open: false, jobs: before });
  });

  it("are made once, counted, and gone after close, which may be called twice", async () => {
    const { made } = poolStats();
    await warmPool();
    await parseInPool(Buffer.from("1"), { channel: "fs", query: { kind: "number", path: "/x" } }, "x");
    expect(poolStats()).toMatchObject({ open: true, made: made + 1 });
    await closePool();
    await closePool();
    expect(poolStats()).toMatchObject({ open: false, threads: 0 });
  });

  it("are made anew for the next job", async () => {
    expect(
      await parseInPool(Buffer.from("[1]"), { channel: "fs", query: { kind: "json", path: "/x" } }, "x"),
    ).toEqual({
      type: "json",
      value: [1],
    });
  });

  it("hand faults of the content back as what they are", async () => {
    await expect(
      parseInPool(Buffer.from("{"), { channel: "fs", query: { kind: "json", path: "/x" } }, "it"),
    ).rejects.toBeInstanceOf(ContentFault);
    const nothing = {
      database: Buffer.from("not a database, but long enough to be looked at"),
      log: null,
      journal: null,
    };
    await expect(sqliteInPool({ ...nothing, sql: "select * from t" })).rejects.toBeInstanceOf(ContentFault);
  });

  it("survive a job that has to be ended: the next is done", async () => {
    const controller = new AbortController();
    const evil = judgeInPool(
      { type: "text", matches: "^(a+)+$", normalise: [], partial: false },
      { type: "text", value: `${"a".repeat(50)}!` },
      controller.signal,
    );
    setTimeout(() => controller.abort(), 100);
    await expect(evil).rejects.toThrow();
    expect(
      await parseInPool(Buffer.from("7"), { channel: "fs", query: { kind: "number", path: "/x" } }, "x"),
    ).toEqual({
      type: "number",
      value: 7,
    });
  });
});
