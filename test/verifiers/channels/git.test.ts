import { symlinkSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { answerGit } from "../../../src/verifiers/channels/git/parse.js";
import type { GitQuery } from "../../../src/verifiers/channels/git/query.js";
import { closePool } from "../../../src/verifiers/index.js";
import { ContentFault } from "../../../src/verifiers/value.js";
import type { MemorySandbox } from "../../support/memory-sandbox.js";
import { hasGit, Workshop } from "./git-support.js";
import { check, mutated } from "./support.js";

afterAll(closePool);

const on =
  (machine: MemorySandbox) =>
  (query: object, assert: object, more: object = {}) =>
    check("git", { path: "/repo", ...query }, assert, machine, more);

/** A history with a merge, tags, a link, a program, and a tree that has been worked on since. */
function history(): Workshop {
  const shop = new Workshop();
  shop.write("README.md", "one\n");
  shop.write("src/über.txt", `${"line\n".repeat(2_000)}end\n`);
  shop.write("run.sh", "#!/bin/sh\n", 0o755);
  shop.write(".gitignore", "*.log\nbuild/\n!keep.log\n");
  symlinkSync("README.md", join(shop.folder, "link"));
  shop.commit("Begin\n\nThe body of it.");
  shop.git("tag", "-a", "v1", "-m", "the first");
  shop.git("checkout", "-q", "-b", "side");
  shop.write("side.txt", "side\n");
  shop.commit("Go aside");
  shop.git("checkout", "-q", "main");
  for (let number = 0; number < 6; number++) {
    shop.write("src/über.txt", `${"line\n".repeat(2_000)}end ${number}\n`);
    shop.commit(`Change ${number}`);
  }
  shop.git("merge", "-q", "--no-ff", "-m", "Merge side", "side");
  return shop;
}

describe.skipIf(!hasGit())("git", () => {
  let shop: Workshop;
  /** Loose objects, packed ones with deltas by distance and by name, and packed refs. */
  const machines: [string, MemorySandbox][] = [];
  beforeAll(() => {
    shop = history();
    machines.push(["loose", shop.machine()]);
    shop.git("gc", "-q", "--aggressive");
    machines.push(["packed", shop.machine()]);
    shop.git("-c", "repack.useDeltaBaseOffset=false", "repack", "-q", "-adf");
    shop.write("late.txt", "late\n");
    shop.commit("Be late");
    shop.git("reset", "-q", "--soft", "HEAD~1");
    shop.git("reset", "-q");
    unlinkSync(join(shop.folder, "late.txt"));
    machines.push(["packed by name, and loose", shop.machine()]);
  });
  afterAll(() => shop.close());
  const everywhere = async (query: object, assert: object): Promise<void> => {
    expect(machines).toHaveLength(3);
    for (const [name, machine] of machines) {
      const { status, evidence } = await on(machine)(query, assert);
      expect(status, `${name}: ${evidence}`).toBe("passed");
    }
  };

  it("logs what git logs, in its order", async () => {
    const format = "%H%x00%P%x00%an%x00%ae%x00%at%x00%s";
    const rows = (words: string[]): string[][] =>
      shop.lines("log", `--format=${format}`, ...words).map((line) => {
        const cells = line.split("\0");
        cells[4] = new Date(Number(cells[4]) * 1000).toISOString();
        return cells;
      });
    const columns = ["hash", "parents", "author", "email", "date", "subject"];
    expect(rows([])).toHaveLength(9);
    await everywhere({ kind: "log" }, { type: "table", columns, rows: rows([]) });
    await everywhere({ kind: "log", first_parent: true }, { type: "table", rows: rows(["--first-parent"]) });
    await everywhere({ kind: "log", ref: "side", count: 1 }, { type: "table", rows: rows(["-1", "side"]) });
    await everywhere({ kind: "log", ref: "HEAD^2~1" }, { type: "table", rows: rows(["HEAD^2~1"]) });
  });

  it("knows branches, tags, HEAD, and commits by their short hash", async () => {
    const hash = (name: string) => shop.git("rev-parse", `${name}^{commit}`).trim();
    await everywhere(
      { kind: "branches" },
      {
        type: "table",
        columns: ["name", "hash"],
        rows: [
          ["main", hash("main")],
          ["side", hash("side")],
        ],
      },
    );
    await everywhere({ kind: "tags" }, { type: "table", rows: [["v1", hash("v1")]] });
    await everywhere({ kind: "head" }, { type: "json", equals: { branch: "main", commit: hash("HEAD") } });
    const first = {
      message: "Begin\n\nThe body of it.\n",
      subject: "Begin",
      parents: [],
      committer: { name: "Bo" },
    };
    for (const ref of ["v1", "refs/tags/v1", hash("v1"), hash("v1").slice(0, 10), "main~7"])
      await everywhere(
        { kind: "commit", ref },
        {
          type: "json",
          subset: {
            ...first,
            committer: { name: "Bo", email: "bo@example.com", date: "2023-11-14T22:16:20.000Z" },
          },
        },
      );
  });

  it("lists trees and reads files at any commit", async () => {
    const files = shop
      .git("ls-tree", "-r", "--name-only", "-z", "HEAD")
      .split("\0")
      .filter((name) => name !== "");
    expect(files).toContain("src/über.txt");
    await everywhere({ kind: "tree" }, { type: "set", equals: files });
    await everywhere(
      { kind: "text", file: "src/über.txt", ref: "main~2" },
      { type: "text", equals: shop.git("show", "main~2:src/über.txt") },
    );
  });

  it("diffs two commits", async () => {
    const changed = shop
      .git("diff", "--name-only", "--no-renames", "-z", "v1", "HEAD")
      .split("\0")
      .filter((name) => name !== "");
    expect(changed).toHaveLength(2);
    await everywhere({ kind: "diff", from: "v1", to: "HEAD" }, { type: "list", equals: changed });
    await everywhere({ kind: "diff" }, { type: "list", equals: [] });
    await everywhere({ kind: "status" }, { type: "table", row_count: { equals: 0 } });
  });
});

describe.skipIf(!hasGit())("git and a working tree", () => {
  let shop: Workshop;
  beforeAll(() => {
    shop = history();
    shop.write("README.md", "two\n");
    shop.git("add", "README.md");
    shop.write("README.md", "three\n");
    shop.write("run.sh", "#!/bin/sh\n", 0o644);
    unlinkSync(join(shop.folder, "side.txt"));
    shop.write("new.txt", "new\n");
    shop.write("staged.txt", "staged\n");
    shop.git("add", "staged.txt");
    shop.write("noise.log", "");
    shop.write("keep.log", "");
    shop.write("build/out", "");
    shop.write("src/.gitignore", "*.tmp\n");
    shop.write("src/a.tmp", "");
  });
  afterAll(() => shop.close());

  it("says what git status says", async () => {
    const words: Record<string, string> = {
      " ": "",
      A: "added",
      M: "modified",
      D: "deleted",
      "?": "untracked",
    };
    const rows = shop
      .git("status", "--porcelain=v1", "-uall", "--no-renames", "-z")
      .split("\0")
      .filter((line) => line !== "")
      .map((line) => [
        line.slice(3),
        line.startsWith("?") ? "" : (words[line[0] ?? ""] ?? "?"),
        words[line[1] ?? ""] ?? "?",
      ]);
    expect(rows.length).toBeGreaterThan(5);
    const columns = ["path", "staged", "unstaged"];
    const { status, evidence } = await on(shop.machine())(
      { kind: "status" },
      { type: "table", columns, rows, as: "set" },
    );
    expect(status, evidence).toBe("passed");
  });

  it("diffs a commit against it", async () => {
    const changed = shop
      .git("diff", "--name-only", "--no-renames", "-z", "HEAD")
      .split("\0")
      .filter((name) => name !== "");
    const { status, evidence } = await on(shop.machine())(
      { kind: "diff" },
      { type: "list", equals: changed },
    );
    expect(status, evidence).toBe("passed");
  });

  it("compares content, whatever the index claims to know of a file", async () => {
    shop.git("update-index", "--assume-unchanged", "run.sh");
    const rows = [["run.sh", "", "modified"]];
    expect(
      await on(shop.machine())({ kind: "status" }, { type: "table", rows, as: "includes" }),
    ).toMatchObject({
      status: "passed",
    });
    shop.git("update-index", "--no-assume-unchanged", "run.sh");
  });

  it("reads an index of version 4, and one without a commit", async () => {
    shop.git("update-index", "--index-version", "4");
    expect(
      await on(shop.machine())({ kind: "status" }, { type: "table", row_count: { equals: 7 } }),
    ).toMatchObject({ status: "passed" });
    const empty = new Workshop();
    empty.write("a", "a");
    empty.git("add", "a");
    const rows = [["a", "added", ""]];
    expect(await on(empty.machine())({ kind: "status" }, { type: "table", rows })).toMatchObject({
      status: "passed",
    });
    const unborn = { branch: "main", commit: null };
    expect((await on(empty.machine())({ kind: "head" }, { type: "json", equals: unborn })).status).toBe(
      "passed",
    );
    expect(await on(empty.machine())({ kind: "log" }, { type: "table", row_count: { min: 0 } })).toEqual({
      status: "failed",
      evidence: "/repo has no commit HEAD",
    });
    empty.close();
  });
});

describe.skipIf(!hasGit())("a repository that an agent might leave", () => {
  let shop: Workshop;
  beforeAll(() => {
    shop = history();
  });
  afterAll(() => shop.close());
  const log = { type: "table", row_count: { min: 1 } };

  it("fails where there is none, no such commit and no such file", async () => {
    const ask = on(shop.machine());
    for (const [query, why] of [
      [{ kind: "log", path: "/none" }, "there is no git repository at /none"],
      [{ kind: "log", path: "/repo/src" }, "there is no git repository at /repo/src"],
      [{ kind: "log", ref: "nobody" }, "/repo has no commit nobody"],
      [{ kind: "log", ref: "main~99" }, "/repo has no commit main~99"],
      [{ kind: "log", ref: "0123456789abcdef" }, "/repo has no commit 0123456789abcdef"],
    ] as const)
      expect(await ask(query, log)).toEqual({ status: "failed", evidence: why });
    expect(await ask({ kind: "text", file: "none" }, { type: "text", contains: "x" })).toEqual({
      status: "failed",
      evidence: "/repo: there is no none at HEAD",
    });
  });

  const ungraded = async (
    machine: MemorySandbox,
    query: object,
    why: string,
    assert: object = log,
  ): Promise<void> => {
    expect(await on(machine)(query, assert)).toMatchObject({
      status: "ungraded",
      evidence: expect.stringContaining(why) as string,
    });
  };
  const head = (): string => shop.git("rev-parse", "HEAD").trim();
  const loose = (hash: string): string => `/repo/.git/objects/${hash.slice(0, 2)}/${hash.slice(2)}`;

  it("is held to the names of its objects", async () => {
    const machine = shop.machine();
    const other =
      shop.machine().nodes.get(loose(shop.git("rev-parse", "HEAD~1").trim()))?.bytes ?? new Uint8Array();
    machine.put(loose(head()), other);
    await ungraded(machine, { kind: "log" }, `object ${head()} is not what its name says`);
    machine.nodes.delete(loose(head()));
    await ungraded(machine, { kind: "log" }, `object ${head()} is missing`);
  });

  it("replaces nothing, and follows neither alternates nor links", async () => {
    const swapped = history();
    swapped.git("replace", "HEAD", "HEAD~1");
    const subject = { type: "json", path: "/subject", equals: "Merge side" };
    expect((await on(swapped.machine())({ kind: "commit" }, subject)).status).toBe("passed");
    swapped.close();
    const machine = shop.machine();
    const bytes = machine.nodes.get(loose(head()))?.bytes ?? new Uint8Array();
    machine.put("/elsewhere/object", bytes);
    machine.put(loose(head()), { type: "symlink", target: "/elsewhere/object" });
    await ungraded(machine, { kind: "log" }, `object ${head()} is missing`);
  });

  it("inflates no more than it says, and not beyond the limit", async () => {
    const machine = shop.machine();
    machine.put(
      loose(head()),
      deflateSync(Buffer.concat([Buffer.from("commit 5\0"), Buffer.alloc(100 * 1024 * 1024)])),
    );
    await ungraded(machine, { kind: "log" }, "is damaged");
  });

  it("of SHA-256 names, or with refs in another form, is refused by name", async () => {
    const other = new Workshop("--object-format=sha256");
    other.write("a", "a");
    other.commit("a");
    await ungraded(
      other.machine(),
      { kind: "log" },
      "/repo is a repository with sha256 names; only SHA-1 is read",
    );
    other.close();
    const machine = shop.machine();
    machine.put("/repo/.git/config", "[core]\n\tbare = false\n[extensions] refStorage = reftable\n");
    await ungraded(machine, { kind: "log" }, "keeps its refs as reftable");
  });

  it("that is linked or bare is told apart", async () => {
    const machine = shop.machine();
    machine.put("/other/.git", "gitdir: /repo/.git\n");
    machine.put("/other", { type: "directory" });
    await ungraded(machine, { kind: "log", path: "/other" }, "a linked working tree or submodule");
    expect((await on(machine)({ kind: "log", path: "/repo/.git" }, log)).status).toBe("passed");
    await ungraded(machine, { kind: "status", path: "/repo/.git" }, "is bare and has no working tree");
  });

  it("is told as it is where a clone is shallow", async () => {
    const clone = new Workshop();
    clone.git("fetch", "-q", "--depth", "2", `file://${shop.folder}`, "main:copy");
    const rows = clone.lines("log", "--format=%s", "copy").length;
    const { status, evidence } = await on(clone.machine())(
      { kind: "log", ref: "copy" },
      { type: "table", row_count: { equals: rows } },
    );
    expect(status, evidence).toBe("passed");
    clone.close();
  });

  it("with damaged files gives an answer or a fault of the content", () => {
    shop.git("gc", "-q");
    const nodes = [...shop.machine().nodes];
    const read = /^\/repo\/\.git\/(HEAD|config|packed-refs|index|refs\/.*|objects\/pack\/.*\.(?:pack|idx))$/;
    const files = nodes.flatMap(([path, { type, bytes }]): [string, Uint8Array][] =>
      type === "file" && bytes !== undefined && read.test(path)
        ? [[path.slice("/repo/.git/".length), bytes]]
        : [],
    );
    expect(files.map(([path]) => path)).toContain("packed-refs");
    const path = "/repo";
    const queries: GitQuery[] = [
      { kind: "log", path, ref: "HEAD", first_parent: false },
      { kind: "tree", path, ref: "v1" },
      { kind: "diff", path, from: "HEAD~1", to: "HEAD" },
      { kind: "status", path },
      { kind: "tags", path },
    ];
    const cases = fc
      .constantFrom(...files)
      .chain(([name, bytes]) => fc.tuple(fc.constant(name), mutated(bytes), fc.constantFrom(...queries)));
    let faults = 0;
    fc.assert(
      fc.property(cases, ([name, bytes, query]) => {
        try {
          expect(answerGit({ files: new Map([...files, [name, bytes]]), work: [] }, query, path)).toBeTypeOf(
            "object",
          );
        } catch (error) {
          faults++;
          if (!(error instanceof ContentFault)) throw error;
        }
      }),
      { numRuns: 1_000 },
    );
    expect(faults).toBeGreaterThan(0);
  });
});
