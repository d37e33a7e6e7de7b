import { afterAll, describe, expect, it } from "vitest";
import { closePool } from "../../../src/verifiers/index.js";
import { check, standsDamage } from "./support.js";

afterAll(closePool);

const feed = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE rss SYSTEM "http://example.com/never-fetched.dtd">
<rss xmlns:dc="http://purl.org/dc/elements/1.1/" version="2.0">
  <channel><title>News</title>
    <item id="1"><title>First &amp; best</title><dc:creator>Ada</dc:creator></item>
    <item id="2"><title><![CDATA[<Second>]]></title><dc:creator>Bo</dc:creator></item>
  </channel>
</rss>`;
const laughs = `<!DOCTYPE lolz [<!ENTITY lol "lol">${Array.from(
  { length: 9 },
  (_, n) => `<!ENTITY lol${n + 1} "${`&lol${n === 0 ? "" : n};`.repeat(10)}">`,
).join("")}]><lolz>&lol9;</lolz>`;

const files = {
  "/w/f.xml": feed,
  "/w/bom.xml": `\ufeff${feed}`,
  "/w/laughs.xml": laughs,
  "/w/torn.xml": "<a><b></a>",
  "/w/two.xml": "<a/><b/>",
  "/w/latin1.xml": '<?xml version="1.0" encoding="ISO-8859-1"?><a/>',
  "/w/external.xml": '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
  "/w/deep.xml": `${"<a>".repeat(300)}${"</a>".repeat(300)}`,
};
const at = (query: object, assert: object, path = "/w/f.xml") =>
  check("xml", { path, ...query }, assert, { files });

describe("xml", () => {
  it.each([
    [
      { kind: "texts", selector: "item > title" },
      { type: "list", equals: ["First & best", "<Second>"] },
    ],
    [
      { kind: "texts", selector: "dc|creator" },
      { type: "list", equals: ["Ada", "Bo"] },
    ],
    [
      { kind: "texts", selector: "item:not(:has(dc|nothing)) dc\\:creator" },
      { type: "set", equals: ["Ada", "Bo"] },
    ],
    [
      { kind: "text", selector: 'item[id="2"] > title' },
      { type: "text", equals: "<Second>" },
    ],
    [
      { kind: "attributes", selector: "item", name: "id" },
      { type: "list", equals: ["1", "2"] },
    ],
    [
      { kind: "attributes", selector: "rss", name: "xmlns:dc" },
      { type: "list", length: { equals: 1 } },
    ],
    [
      { kind: "count", selector: "Item" },
      { type: "number", equals: 0 },
    ],
  ])("%j satisfies %j", async (query, assert) => {
    const { status, evidence } = await at(query, assert);
    expect(status, evidence).toBe("passed");
  });

  it("takes a byte order mark as one", async () => {
    expect(
      (await at({ kind: "count", selector: "item" }, { type: "number", equals: 2 }, "/w/bom.xml")).status,
    ).toBe("passed");
  });

  it.each([
    ["/w/laughs.xml", "undefined entity"],
    ["/w/external.xml", "undefined entity"],
    ["/w/torn.xml", "not well-formed XML"],
    ["/w/two.xml", "not well-formed XML"],
    ["/w/latin1.xml", "is encoded in ISO-8859-1; only UTF-8 is read"],
    ["/w/deep.xml", "nested deeper than 256"],
  ])("%s is ungraded: %s", async (path, why) => {
    expect(await at({ kind: "count", selector: "a" }, { type: "number", min: 0 }, path)).toMatchObject({
      status: "ungraded",
      evidence: expect.stringContaining(why) as string,
    });
  });

  it("stands damaged bytes, and finds fault with some", async () => {
    const faults = await standsDamage(
      [Buffer.from(feed), Buffer.from(laughs)],
      [{ channel: "xml", query: { kind: "texts", path: "/f", selector: "*", space: "keep" } }],
    );
    expect(faults).toBeGreaterThan(0);
  });
});
