import { afterAll, describe, expect, it } from "vitest";
import { closePool } from "../../../src/verifiers/index.js";
import { check, standsDamage } from "./support.js";

afterAll(closePool);

const page = `<!doctype html><meta charset=utf-8><title>Stock</title>
<h1>Apples &amp; <b>pears</b></h1><script>var hidden = "<li>no</li>"</script>
<ul class=fruits><li data-id=1>  Red
 apple<li data-id=2 class=on>Pear<li>Plum</ul>
<a href="/a">one</a><a>none</a><a href="/b">two</a>
<table id=stock><thead><tr><th>Name<th>Qty</thead><tr><td>Apple<td>3<tr><td rowspan=2>Pear<td>4<tr><td>5</table>
<table id=wide><tr><td colspan=2>both<td>c<tr><td>a<td>b<td>c</table>
<table id=torn><tr><td>a<td>b<tr><td>c</table>
<table id=outer><tr><td><table><tr><td>inner</table></table>`;

const files = {
  "/w/p.html": page,
  "/w/deep.html": "<div>".repeat(2_000),
  "/w/latin1.html": Uint8Array.of(60, 0xe4),
};
const at = (query: object, assert: object, path = "/w/p.html") =>
  check("html", { path, ...query }, assert, { files });

describe("html", () => {
  it.each([
    [
      { kind: "texts", selector: "ul.fruits > li" },
      { type: "list", equals: ["Red apple", "Pear", "Plum"] },
    ],
    [
      { kind: "texts", selector: "li.on", space: "keep" },
      { type: "list", equals: ["Pear"] },
    ],
    [
      { kind: "text", selector: "h1" },
      { type: "text", equals: "Apples & pears" },
    ],
    [
      { kind: "text", selector: "title" },
      { type: "text", equals: "Stock" },
    ],
    [
      { kind: "text", selector: "body" },
      { type: "text", excludes: "hidden" },
    ],
    [
      { kind: "attributes", selector: "a", name: "href" },
      { type: "list", equals: ["/a", "/b"] },
    ],
    [
      { kind: "count", selector: "a:not([href])" },
      { type: "number", equals: 1 },
    ],
    [
      { kind: "count", selector: "video" },
      { type: "number", equals: 0 },
    ],
    [
      { kind: "table", selector: "#stock", numeric: ["Qty"] },
      {
        type: "table",
        columns: ["Name", "Qty"],
        rows: [
          ["Apple", 3],
          ["Pear", 4],
          ["Pear", 5],
        ],
      },
    ],
    [
      { kind: "table", selector: "#wide", header: false },
      {
        type: "table",
        rows: [
          ["both", "both", "c"],
          ["a", "b", "c"],
        ],
      },
    ],
    [
      { kind: "table", selector: "#outer", header: false },
      { type: "table", row_count: { equals: 1 } },
    ],
  ])("%j satisfies %j", async (query, assert) => {
    const { status, evidence } = await at(query, assert);
    expect(status, evidence).toBe("passed");
  });

  it("fails what no element matches, and is ungraded where one was wanted and several match", async () => {
    expect(await at({ kind: "text", selector: "video" }, { type: "text", contains: "x" })).toEqual({
      status: "failed",
      evidence: '/w/p.html: nothing matches "video"',
    });
    expect(await at({ kind: "text", selector: "li" }, { type: "text", contains: "x" })).toEqual({
      status: "ungraded",
      evidence: '/w/p.html: "li" finds 3 elements instead of 1',
    });
    expect(
      (await at({ kind: "count", selector: "p" }, { type: "number", equals: 0 }, "/w/none")).status,
    ).toBe("failed");
  });

  it.each([
    [{ kind: "table", selector: "#torn" }, "/w/p.html", "row 2 of the table has 1 cells instead of 2"],
    [{ kind: "table", selector: "ul" }, "/w/p.html", "finds <ul>, not a table"],
    [{ kind: "table", selector: "#stock", numeric: ["Price"] }, "/w/p.html", 'has no column "Price"'],
    [{ kind: "table", selector: "#stock", numeric: ["Name"] }, "/w/p.html", "is not a number"],
    [{ kind: "table" }, "/w/deep.html", "nested deeper than 256"],
    [{ kind: "table" }, "/w/latin1.html", "not valid UTF-8"],
  ])("%j of %s is ungraded: %s", async (query, path, why) => {
    expect(await at(query, { type: "table", row_count: { min: 0 } }, path)).toMatchObject({
      status: "ungraded",
      evidence: expect.stringContaining(why) as string,
    });
  });

  it("gives up a small file that means a very large tree", async () => {
    const bomb = `${"<b><i><u>".repeat(300)}${"<p>x".repeat(2_000)}`;
    const { status, evidence } = await check(
      "html",
      { kind: "count", path: "/w/b", selector: "b" },
      { type: "number", equals: 0 },
      { files: { "/w/b": bomb } },
    );
    expect(status).toBe("ungraded");
    expect(evidence).toMatch(/more than 200000 nodes|nested deeper than 256/);
  });

  it("refuses what is no selector when the task is loaded", async () => {
    await expect(at({ kind: "count", selector: "li[" }, { type: "number", equals: 0 })).rejects.toMatchObject(
      {
        code: "bad_task",
        message: expect.stringContaining("graph.query.selector: not a selector") as string,
      },
    );
    await expect(
      at({ kind: "count", selector: "li:sparkling" }, { type: "number", equals: 0 }),
    ).rejects.toThrow("not a selector");
  });

  it("stands damaged bytes", async () => {
    await standsDamage(
      [Buffer.from(page)],
      [
        { channel: "html", query: { kind: "count", path: "/p", selector: "*" } },
        {
          channel: "html",
          query: { kind: "table", path: "/p", selector: "#stock", header: true, numeric: [] },
        },
      ],
    );
  });
});
