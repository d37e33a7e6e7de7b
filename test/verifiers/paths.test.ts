/** Lists of paths, and the items that none of them can hold. */
import { describe, expect, it } from "vitest";
import { graphOf } from "./support.js";

const listings = {
  tree: { channel: "fs", query: { kind: "tree", path: "/w" } },
  glob: { channel: "fs", query: { kind: "glob", pattern: "/w/*" } },
  lines: { channel: "fs", query: { kind: "lines", path: "/w/names" } },
  "git tree": { channel: "git", query: { kind: "tree", path: "/w" } },
  "git diff": { channel: "git", query: { kind: "diff", path: "/w" } },
  entries: { channel: "archive", query: { kind: "entries", path: "/w.zip" } },
};
type Listing = keyof typeof listings;

const load = (listing: Listing, assert: object): void =>
  void graphOf({ id: "c", ...listings[listing], assert });
const refused = (path: string): unknown =>
  expect.objectContaining({ code: "bad_task", path: `graph.assert.${path}` }) as unknown;

const below = ["tree", "git tree", "git diff", "entries"] as const;

describe.each(below)("a list of what is below a root (%s)", (listing) => {
  it.each([
    [{ type: "list", equals: ["a", "/w/b"] }, "equals[1]"],
    [{ type: "set", contains: ["/w/b"] }, "contains[0]"],
    [{ type: "list", excludes: ["./b"] }, "excludes[0]"],
    [{ type: "list", equals: { from: listings.glob } }, "equals.from"],
  ])("is never asked for an absolute path: %j is refused", (assert, path) => {
    expect(() => load(listing, assert)).toThrow(refused(path));
  });

  it("takes paths below its root, and lists that may hold them", () => {
    load(listing, { type: "list", equals: ["a", "sub/", ".hidden", "..odd"] });
    load(listing, { type: "list", equals: { from: listings.lines } });
    load(listing, { type: "set", contains: ["/a"], normalise: ["strip_punctuation"] });
  });
});

describe("a list of whole paths", () => {
  it.each([
    [{ type: "list", excludes: ["b"] }, "excludes[0]"],
    [{ type: "set", equals: { from: listings["git tree"] } }, "equals.from"],
  ])("is never asked for one below a root: %j is refused", (assert, path) => {
    expect(() => load("glob", assert)).toThrow(refused(path));
  });

  it("takes absolute ones", () => {
    load("glob", { type: "list", excludes: ["/w/b"], equals: { from: listings.lines } });
  });
});

describe("a file within a commit or an archive", () => {
  const text = (channel: string, query: object) => ({
    id: "c",
    channel,
    query: { kind: "text", path: "/w", ...query },
    assert: { type: "text", equals: "x" },
  });
  it.each([
    [text("git", { file: "/w/a" }), "graph.query.file"],
    [text("archive", { entry: "/a" }), "graph.query.entry"],
  ])("has no such name: %j is refused", (node, path) => {
    expect(() => graphOf(node)).toThrow(expect.objectContaining({ code: "bad_task", path }) as Error);
  });
});
