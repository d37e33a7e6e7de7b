/** Traps that an agent without rights leaves for its grader in a real machine: graded rightly, or ungraded by name, and the rest unharmed. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Golden, Sandbox } from "../../../src/sandbox/sandbox.js";
import { closePool } from "../../../src/verifiers/index.js";
import { machinesUnavailable, providerForFile, TEST_IMAGE } from "../../support/machine.js";
import { command, gradeOn, run, sound, told } from "./support.js";

const unavailable = await machinesUnavailable();
const provider = providerForFile();
afterAll(() => closePool());

const MIB = 1024 * 1024;
/** Resident memory that grading all traps may take of the host, the fork's own pages and two parsers' heaps included. */
const GRADING_MIB = 1_200;

const ask = (id: string, channel: string, query: object, assert: object, more: object = {}): object => ({
  id,
  channel,
  query: { path: `/home/agent/${id}`, ...query },
  assert,
  ...more,
});
const readText = (id: string, more: object = {}): object =>
  ask(id, "fs", { kind: "text" }, { type: "text", contains: "x" }, more);
const hash = (id: string): object => ask(id, "fs", { kind: "hash" }, { type: "text", equals: "x" });

/** Nothing matches a pattern below the agent's home. */
const glob = (pattern: string): object => ({
  channel: "fs",
  query: { kind: "glob", pattern: `/home/agent/${pattern}` },
  assert: { type: "list", length: { equals: 0 } },
});

const PREPARE = `
import os, socket, sqlite3, zipfile
os.chdir("/home/agent")
os.mkfifo("pipe")
socket.socket(socket.AF_UNIX).bind("socket")
for name, target in {"zero": "/dev/zero", "circle": "circle", "kernel-log": "/proc/kmsg", "memory": "/proc/kcore",
    "process-memory": "/proc/self/mem", "endless": "/proc/1/pagemap", "console": "/dev/console", "bytes": b"\\xff\\xfe"}.items():
    os.symlink(target, name)
for name, size in {"sparse": 10 << 30, "largest": (1 << 63) - 1, "sparse.db": 10 << 30}.items():
    with open(name, "w") as file: file.truncate(size)
os.symlink("sparse", "to-sparse")
os.mkdir("names")
for name in ("new\\nline", "plain", "\\ufeffdone.txt"):
    open("names/" + name, "w").close()
os.makedirs(b"hidden/\\xff")
os.mkdir("hidden/\\ufffd")
open(b"hidden/\\xff/a.tmp", "w").close()
os.makedirs("dotted/.folder")
open("dotted/.folder/.a.tmp", "w").close()
os.symlink("dotted", "to-dotted")
os.mkdir("many")
for n in range(50_000): os.mknod(f"many/{n}")
entities = '<!DOCTYPE d [<!ENTITY a0 "ha">' + "".join(f'<!ENTITY a{n} "{f"&a{n-1};" * 10}">' for n in range(1, 10)) + "]>"
word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
laughs = f'{entities}<w:document xmlns:w="{word}"><w:body><w:p><w:r><w:t>&a9;</w:t></w:r></w:p></w:body></w:document>'
types = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
relations = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>'
with zipfile.ZipFile("laughs.docx", "w", zipfile.ZIP_DEFLATED) as file:
    file.writestr("[Content_Types].xml", types)
    file.writestr("_rels/.rels", relations)
    file.writestr("word/document.xml", laughs)
open("laughs.xml", "w").write(entities + "<d>&a9;</d>")
open("laughs.yaml", "w").write("a0: &a0 [x]\\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n-1}'] * 10)}]\\n" for n in range(1, 10)))
with zipfile.ZipFile("bomb.zip", "w", zipfile.ZIP_DEFLATED) as file:
    with file.open("zeros", "w", force_zip64=True) as entry:
        for _ in range(70): entry.write(bytes(1 << 20))
for name, garbage in {"hot.db": "-journal", "logged.db": "-wal"}.items():
    db = sqlite3.connect(name)
    db.execute("CREATE TABLE t(n)")
    db.execute("INSERT INTO t VALUES (7)")
    db.commit()
    db.close()
    open(name + garbage, "wb").write(os.urandom(5_000))
`;

describe.skipIf(unavailable !== null)("traps of an agent without rights", () => {
  let golden: Golden;
  let box: Sandbox;
  beforeAll(async () => {
    golden = await provider().imageGolden(TEST_IMAGE);
  });
  beforeEach(async () => {
    box = await golden.fork({ seed: new Uint8Array(32) });
  });
  afterEach(() => box.close());
  afterAll(() => {
    golden.close();
  });

  it("in its files are graded, or ungraded by name, and every check between them is graded as ever", async () => {
    await box.writeFile("/home/agent/prepare.py", PREPARE);
    await run(box, "python3 prepare.py");
    const traps: [object, RegExp][] = [
      [readText("pipe"), /^ungraded: .*is a fifo, not a file/],
      [readText("socket"), /^ungraded: .*is a socket, not a file/],
      [readText("zero"), /^ungraded: .*is a char, not a file/],
      [readText("console"), /^ungraded: .*is a char, not a file/],
      [readText("circle"), /^ungraded: .*more than 16 links/],
      [readText("kernel-log"), /^ungraded: .*EAGAIN/],
      [readText("process-memory", { on_error: "fail" }), /^failed: .*EIO/],
      [readText("memory"), /^ungraded: .*is larger than/],
      [readText("endless"), /^ungraded: .*EINVAL/],
      [readText("bytes"), /^ungraded: .*target 0xfffe: .*EILSEQ/],
      [readText("sparse"), /^ungraded: .*is larger than/],
      [readText("largest", { on_error: "fail" }), /^failed: .*is larger than/],
      [hash("sparse"), /^ungraded: .*more than 268435456 bytes/],
      [hash("endless"), /^ungraded: .*more than 268435456 bytes/],
      [hash("memory"), /^ungraded: /],
      [
        ask("sparse.db", "sqlite", { kind: "number", sql: "SELECT 1" }, { type: "number", equals: 1 }),
        /^ungraded: .*is larger than/,
      ],
      [
        ask(
          "names",
          "fs",
          { kind: "tree" },
          { type: "list", contains: ["plain", "new\nline"], length: { equals: 3 } },
        ),
        /^passed/,
      ],
      [
        ask("hidden", "fs", { kind: "tree" }, { type: "list", equals: ["\ufffd/"] }),
        /^ungraded: .*hidden: name 0xff: .*EILSEQ/,
      ],
      [
        ask("hidden", "fs", { kind: "manifest" }, { type: "json", equals: {} }, { on_error: "fail" }),
        /^failed: .*hidden: name 0xff: .*EILSEQ/,
      ],
      [glob("hidden/**/*.tmp"), /^ungraded: .*hidden: name 0xff: .*EILSEQ/],
      [glob("hidden/*/*.tmp"), /^ungraded: .*hidden: name 0xff: .*EILSEQ/],
      [glob("dotted/**/*.tmp"), /^failed: length 0: saw 1/],
      [glob("to-dotted/**/*.tmp"), /^failed: length 0: saw 1/],
      [glob("names/done.txt"), /^passed/],
      [glob("names/d*.txt"), /^passed/],
      [
        ask("many", "fs", { kind: "tree" }, { type: "list", equals: [] }),
        /^ungraded: .*10000 entries or more/,
      ],
      [
        ask("laughs.docx", "office", { kind: "text" }, { type: "text", contains: "ha" }),
        /^ungraded: .*entit/,
      ],
      [
        ask("laughs.xml", "xml", { kind: "count", selector: "d" }, { type: "number", equals: 1 }),
        /^ungraded: .*entit/,
      ],
      [ask("laughs.yaml", "config", { kind: "yaml" }, { type: "json", exists: true }), /^ungraded: /],
      [ask("bomb.zip", "archive", { kind: "entries" }, { type: "list", equals: ["zeros"] }), /^passed/],
      [
        ask("bomb.zip", "archive", { kind: "text", entry: "zeros" }, { type: "text", equals: "" }),
        /^ungraded: /,
      ],
      [
        ask("hot.db", "sqlite", { kind: "number", sql: "SELECT n FROM t" }, { type: "number", equals: 7 }),
        /^passed/,
      ],
      [
        ask("logged.db", "sqlite", { kind: "number", sql: "SELECT n FROM t" }, { type: "number", equals: 7 }),
        /^passed/,
      ],
    ];
    const all = traps.flatMap(([check], index) => [
      { ...check, id: `trap-${index}` },
      sound(`sound-${index}`),
    ]);
    const before = await box.digest();
    const resident = process.memoryUsage.rss();
    const verdict = await gradeOn(box, { weighted: all });
    expect(process.memoryUsage.rss() - resident).toBeLessThan(GRADING_MIB * MIB);
    expect(await box.digest()).toBe(before);
    const said = told(verdict);
    traps.forEach(([check, expected], index) => {
      expect(said[`trap-${index}`], JSON.stringify(check)).toMatch(expected);
      expect(said[`sound-${index}`]).toBe("passed");
    });
  });

  it("in its processes are seen as they are: one that ignores all signals counts, and holds up nobody", async () => {
    await box.writeFile(
      "/home/agent/deaf.py",
      "import signal, time\nfor n in set(range(1, 65)) - {9, 19, 32, 33}: signal.signal(n, signal.SIG_IGN)\nwhile True: pass\n",
    );
    await run(box, "setsid python3 deaf.py > /dev/null 2>&1 & sleep 0.5");
    const count = {
      id: "deaf",
      channel: "process",
      query: { kind: "count", argv_contains: ["deaf.py"] },
      assert: { type: "number", equals: 1 },
    };
    const killed = command("killed", ["/bin/sh", "-c", "pkill -9 -f [d]eaf.py; echo 1"], 1, {
      mutates: true,
    });
    expect(told(await gradeOn(box, { all: [killed, count, sound("after")] }))).toEqual({
      killed: "passed",
      deaf: "passed",
      after: "passed",
    });
  });

  it("that fill its memory and its file systems leave room for the grader's programs and assets", async () => {
    const fill = `for place in /run/lock /dev/shm /tmp /home/agent; do head -c 1G /dev/zero > $place/fill; done
      for n in 1 2 3; do setsid python3 -c 'import time; hog = [bytes(1 << 20) for n in range(100)]; time.sleep(9999)' & done; sleep 2; true`;
    // Somebody of them is killed for want of memory, maybe the shell.
    await run(box, `(${fill}) > /dev/null 2>&1`).catch(() => undefined);
    expect((await box.stat("/run/lock/fill")).size).toBeGreaterThan(0);
    const ask = "import json; print(json.dumps(len(open('/etc/passwd').read()) > 9))";
    const argv = ["/usr/bin/python3", { asset: "ask.py" }];
    const verdict = await gradeOn(
      box,
      { all: [command("asset", argv, true), sound("after")] },
      { "ask.py": ask },
    );
    expect(told(verdict)).toEqual({ asset: "passed", after: "passed" });
  });
});
