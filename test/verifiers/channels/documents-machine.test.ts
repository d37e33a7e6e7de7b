/** Documents that a real guest's own tools wrote, and the traps that it can really set. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Golden, Sandbox } from "../../../src/sandbox/sandbox.js";
import { closePool, evaluateGraph } from "../../../src/verifiers/index.js";
import { machinesUnavailable, providerForFile, TEST_IMAGE } from "../../support/machine.js";
import { graphOf, silent, timeless } from "../support.js";

const unavailable = await machinesUnavailable();
const provider = providerForFile();
afterAll(closePool);

const HOME = "/home/agent";
const WRITE = `
import configparser, gzip, json, plistlib, tarfile, zipfile
parser = configparser.ConfigParser()
parser["Server"] = {"Host": "localhost", "Port": "8080"}
with open("app.ini", "w") as file: parser.write(file)
with open("app.plist", "wb") as file: plistlib.dump({"On": True, "Names": ["a", "b"]}, file, fmt=plistlib.FMT_BINARY)
with zipfile.ZipFile("out.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("report.json", json.dumps({"total": 42}))
    with archive.open("streamed.txt", "w", force_zip64=True) as file: file.write(b"streamed\\n" * 1000)
with zipfile.ZipFile("bomb.docx", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("_rels/.rels", '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="a" Type="x/officeDocument" Target="d.xml"/></Relationships>')
    archive.writestr("d.xml", b" " * (80 << 20))
`;
const SHELL = `set -e
mkdir -p tree/sub && echo one > tree/a.txt && echo two > tree/sub/b.txt && ln -s a.txt tree/link
tar -C tree -czf tree.tar.gz .
truncate -s 10G sparse.zip && tar -Scf sparse.tar sparse.zip
mkfifo pipe.pdf && ln -s /dev/zero zero.xlsx
touch "tree/$(printf 'bad\\377name')" && tar -cf names.tar tree
`;

describe.skipIf(unavailable !== null)("documents in a real machine", () => {
  let golden: Golden;
  let box: Sandbox;
  beforeAll(async () => {
    golden = await provider().imageGolden(TEST_IMAGE);
    box = await golden.fork({ seed: new Uint8Array(32) });
    for (const argv of [
      ["python3", "-c", WRITE],
      ["sh", "-c", SHELL],
    ]) {
      const made = await box.exec({ argv, cwd: HOME });
      expect(made.exitCode, new TextDecoder().decode(made.stderr)).toBe(0);
    }
  });
  afterAll(async () => {
    await box.close();
    golden.close();
  });

  const check = (id: string, channel: string, file: string, query: object, assert: object): object => ({
    id,
    channel,
    query: { path: `${HOME}/${file}`, ...query },
    assert,
  });
  const grade = (checks: object[]) =>
    evaluateGraph(graphOf({ all: checks }), { fork: () => box.fork("grade"), episode: silent });

  it("are read as the guest's tools wrote them, twice to the same bytes, and the machine learns of nothing", async () => {
    const before = await box.digest();
    const json = (path: string, equals: unknown) => ({ type: "json", path, equals });
    const checks = [
      check(
        "ini",
        "config",
        "app.ini",
        { kind: "ini" },
        json("/Server", { host: "localhost", port: "8080" }),
      ),
      check("plist", "config", "app.plist", { kind: "plist" }, json("", { On: true, Names: ["a", "b"] })),
      check("zip", "archive", "out.zip", { kind: "json", entry: "report.json" }, json("/total", 42)),
      check(
        "zip64",
        "archive",
        "out.zip",
        { kind: "lines", entry: "streamed.txt" },
        { type: "list", length: { equals: 1_000 } },
      ),
      check(
        "tar",
        "archive",
        "tree.tar.gz",
        { kind: "entries" },
        { type: "list", equals: ["a.txt", "link", "sub/b.txt"] },
      ),
      check(
        "link",
        "archive",
        "tree.tar.gz",
        { kind: "manifest" },
        json("/link", { kind: "symlink", target: "a.txt" }),
      ),
    ];
    const verdict = await grade(checks);
    for (const { id, status, evidence } of verdict.checks)
      expect(status, `${id}: ${evidence}`).toBe("passed");
    expect(timeless(await grade(checks))).toEqual(timeless(verdict));
    expect(await box.digest()).toBe(before);
  });

  it.each([
    [
      "archive",
      "sparse.zip",
      { kind: "entries" },
      { type: "list", equals: [] },
      "is larger than 16777216 bytes",
    ],
    [
      "archive",
      "sparse.tar",
      { kind: "entries" },
      { type: "list", equals: [] },
      "is sparse, which is not read",
    ],
    [
      "archive",
      "names.tar",
      { kind: "entries" },
      { type: "list", equals: [] },
      "a name that is not valid UTF-8",
    ],
    [
      "office",
      "bomb.docx",
      { kind: "text" },
      { type: "text", contains: "x" },
      "is larger than 67108864 bytes",
    ],
    ["office", "zero.xlsx", { kind: "sheets" }, { type: "list", equals: [] }, "is a char, not a file"],
    ["pdf", "pipe.pdf", { kind: "pages" }, { type: "number", equals: 1 }, "is a fifo, not a file"],
  ])("leave %s ungraded where %s is a trap", async (channel, file, query, assert, why) => {
    const verdict = await grade([check("trap", channel, file, query, assert)]);
    expect(verdict.status).toBe("ungraded");
    expect(verdict.checks[0]?.evidence).toContain(why);
  });
});
