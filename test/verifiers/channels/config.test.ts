import { afterAll, describe, expect, it } from "vitest";
import { closePool } from "../../../src/verifiers/index.js";
import { answerOrFault, faults, fixture, holds, survivesMutation } from "./documents.js";
import { check } from "./support.js";

afterAll(closePool);

const PATH = "/etc/demo";
const json = (path: string, equals: unknown) => ({ type: "json", path, equals });
const config = (kind: string, text: string | Uint8Array, path: string, equals: unknown, more: object = {}) =>
  holds("config", { kind, path: PATH, ...more }, json(path, equals), { [PATH]: text });
const refused = (kind: string, text: string | Uint8Array, why: string, more: object = {}) =>
  faults("config", { kind, path: PATH, ...more }, { type: "json", exists: true }, { [PATH]: text }, why);

/** Broken texts by the reason, which is short enough for a title. */
const byReason = (cases: [string, string][]): [string, string][] => cases.map(([text, why]) => [why, text]);

describe("an INI file", () => {
  const desktop = [
    "# a desktop entry",
    "[Desktop Entry]",
    "Name=Editor",
    "Name[de] = Schreiber",
    "Categories=Utility;TextEditor;",
    "Terminal=false",
    "Exec=editor --flag=on %F",
    "",
    "[org.example.deep]",
    "path: C:\\data",
    "bare",
  ].join("\r\n");

  it.each([
    ["/Desktop Entry/Name", "Editor"],
    ["/Desktop Entry/Name[de]", "Schreiber"],
    ["/Desktop Entry/Categories", "Utility;TextEditor;"],
    ["/Desktop Entry/Terminal", "false"],
    ["/Desktop Entry/Exec", "editor --flag=on %F"],
    ["/org.example.deep/path", "C:\\data"],
    ["/org.example.deep/bare", null],
  ])("has %s as it stands", (path, value) => config("ini", desktop, path, value));

  it("has keys ahead of the first section in the section without a name", () =>
    config("ini", "a=1\n", "", { "": { a: "1" } }));
  it("keeps every value of a repeated key where the author says so", () =>
    config(
      "ini",
      "[Service]\nEnvironment=A=1\nEnvironment=B=2\n[Service]\nUser=x\n",
      "/Service",
      {
        Environment: ["A=1", "B=2"],
        User: ["x"],
      },
      { repeated: true },
    ));
  it("is refused with the line of a key that stands twice", () =>
    refused("ini", "[a]\nx=1\nx=2\n", 'line 3 has the key "x" a second time'));
  it("is refused where a section is never closed", () => refused("ini", "[a\n", "line 1 opens a section"));
  it("may name a key __proto__, which is a key like any other", () =>
    config("ini", "[__proto__]\n__proto__=x\n", "/__proto__/__proto__", "x"));
  it("that starts with a byte order mark is read without it", () =>
    config("ini", "\uFEFF[a]\nx=1\n", "/a/x", "1"));
});

describe("JSON", () => {
  it("may hold comments and trailing commas only where it is called jsonc", async () => {
    const text = '{\n  // colour\n  "a": [1, 2,], /* end */\n}\n';
    await config("jsonc", text, "", { a: [1, 2] });
    await refused("json", text, "line 2: not JSON: InvalidCommentToken");
  });
  it.each(
    byReason([
      ['{"a":1,"a":2}', 'line 1: the key "a" stands twice'],
      ['{"a":9007199254740993}', "9007199254740993 is a number that cannot be held exactly"],
      ['{"a":1} {"b":2}', "not JSON"],
      ["", "line 1: not JSON: ValueExpected"],
      ["[".repeat(100_000), "nested deeper than 256"],
      ['{"a":1e999}', "cannot be held exactly"],
    ]),
  )("is refused: %s", (why, text) => refused("json", text, why));
  it("may name a key __proto__, which is a key like any other", () =>
    config("json", '{"__proto__":{"a":1}}', "/__proto__/a", 1));
});

describe("YAML", () => {
  it("is of version 1.2: yes is a word", () =>
    config("yaml", "a: yes\nb: 0o17\nc: &x [1, 2]\nd: *x\n", "", { a: "yes", b: 15, c: [1, 2], d: [1, 2] }));
  it.each(
    byReason([
      ["a: 1\na: 2\n", 'has the key "a" twice'],
      ['1: a\n"1": b\n', 'has the key "1" twice'],
      ["? [a]\n: b\n", "has a key that is no scalar"],
      ["a: 1\n---\nb: 2\n", "holds more than 1 document"],
      ["a: !!python/object:os.system x\n", "is not YAML"],
      ["a: 9007199254740993\n", "cannot hold exactly"],
      ["a: .nan\n", "holds NaN"],
      ["a: *nowhere\n", "is not YAML"],
      ["[".repeat(50_000), "nested deeper than 256"],
      [
        `a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n${Array.from({ length: 9 }, (_, n) => `a${n + 1}: &a${n + 1} [${Array(10).fill(`*a${n}`).join(", ")}]\n`).join("")}`,
        "is not YAML: Excessive alias count",
      ],
      ["x: y\n".repeat(300_000), "larger than 262144 characters"],
    ]),
  )("is refused: %s", (why, text) => refused("yaml", text, why));
  it("with twenty thousand keys is read in linear time", () =>
    config("yaml", Array.from({ length: 20_000 }, (_, n) => `k${n}: 1\n`).join(""), "/k19999", 1));
  it.each([
    ["anchors on one node", "&a ".repeat(80_000)],
    ["tags on one node", "!a ".repeat(80_000)],
    ["closing braces", "}\n".repeat(130_000)],
    ["documents", "---\n".repeat(60_000)],
  ])("of nothing but %s is refused at once", async (_, text) => {
    const query = { kind: "yaml", path: PATH, at: "" } as const;
    expect(await answerOrFault({ channel: "config", query }, Buffer.from(text))).toHaveProperty("fault");
  });
  it("that is empty is null", () => config("yaml", "# nothing\n", "", null));
});

describe("TOML", () => {
  it("keeps dates as text, as the file writes their parts", () =>
    config("toml", "a = 1\n[t]\nd = 1979-05-27\nl = 07:32:00\nz = 1979-05-27T07:32:00Z\n", "/t", {
      d: "1979-05-27",
      l: "07:32:00.000",
      z: "1979-05-27T07:32:00.000Z",
    }));
  it("may name a key __proto__, which is a key like any other", () =>
    config("toml", '"__proto__" = 1\n', "/__proto__", 1));
  it.each(
    byReason([
      ["a = 1\na = 2\n", "is not TOML"],
      ["a = inf\n", "holds Infinity"],
      ["a = 9007199254740993\n", "is not TOML"],
      [`a = ${"[".repeat(10_000)}`, "is not TOML"],
    ]),
  )("is refused: %s", (why, text) => refused("toml", text, why));
});

describe("a property list of plistlib", () => {
  it.each(["demo.plist", "demo-binary.plist"])("is read from %s", (name) =>
    config("plist", fixture(name), "", {
      Label: "org.example.demo",
      KeepAlive: true,
      StartInterval: 300,
      Ratio: 0.25,
      Negative: -7,
      Big: 2 ** 40,
      Umlaut: "Grüße",
      Since: "2024-02-29T12:30:00Z",
      Blob: { data: "AAH+" },
      ProgramArguments: ["/bin/demo", "--serve"],
      Nested: { Deep: { Leaf: "x" } },
    }),
  );
  const list = (body: string, head = "") =>
    `<?xml version="1.0"?>${head}<plist version="1.0">${body}</plist>`;
  it.each(
    byReason([
      [list("<dict><key>a</key><true/><key>a</key><true/></dict>"), 'has the key "a" twice'],
      [list("<dict><key>a</key></dict>"), "keys and values do not alternate"],
      [list("<true/><true/>"), "not a property list of one value"],
      [list("<integer>1.5</integer>"), "not an integer"],
      [list("<data>###</data>"), "data is not base64"],
      [list("<string>&a;</string>", '<!DOCTYPE plist [<!ENTITY a "aaaa">]>'), "declares a document type"],
      ["<array>".repeat(300), "nested deeper than 256"],
    ]),
  )("is refused: %s", (why, text) => refused("plist", text, why));

  /** A list whose one array holds itself, and one whose arrays double eleven times over. */
  const binary = (objects: number[][]): Uint8Array => {
    const body = objects.flat();
    let at = 8;
    const offsets = objects.flatMap((object) => {
      const place = at;
      at += object.length;
      return [place >> 8, place & 0xff];
    });
    const word = (value: number) => [0, 0, 0, 0, 0, 0, value >> 8, value & 0xff];
    const trailer = [0, 0, 0, 0, 0, 0, 2, 1, ...word(objects.length), ...word(0), ...word(at)];
    return Uint8Array.from([...Buffer.from("bplist00"), ...body, ...offsets, ...trailer]);
  };
  it("that holds itself is refused", () => refused("plist", binary([[0xa1, 0]]), "nested deeper than 256"));
  it("that expands a billionfold is refused", () =>
    refused(
      "plist",
      binary([...Array.from({ length: 30 }, (_, n) => [0xa2, n + 1, n + 1]), [0x09]]),
      "holds more than 1000000 values",
    ));
  it("may share objects within reason", () =>
    config(
      "plist",
      binary([
        [0xa2, 1, 1],
        [0x10, 42],
      ]),
      "",
      [42, 42],
    ));
});

describe("a registry", () => {
  const exported = [
    "Windows Registry Editor Version 5.00",
    "",
    "[HKEY_CURRENT_USER\\Software\\Demo]",
    '@="own"',
    '"Path"="C:\\\\data\\\\a \\"b\\""',
    '"Count"=dword:0000002a',
    '"Blob"=hex:01,02,\\',
    "  ff",
    '"Wide"=hex(2):25,00',
    '"Gone"=-',
    "",
    "[-HKEY_CURRENT_USER\\Software\\Old]",
    "",
  ].join("\r\n");
  const value = {
    "HKEY_CURRENT_USER\\Software\\Demo": {
      "@": "own",
      Path: 'C:\\data\\a "b"',
      Count: 42,
      Blob: { type: 3, hex: "0102ff" },
      Wide: { type: 2, hex: "2500" },
      Gone: null,
    },
    "HKEY_CURRENT_USER\\Software\\Old": null,
  };
  it("is read from an export in UTF-8", () => config("registry", exported, "", value));
  it("is read from an export in UTF-16 with its mark", () =>
    config("registry", Buffer.from(`\uFEFF${exported}`, "utf16le"), "", value));
  it("is read from a file of Wine's", () =>
    config(
      "registry",
      'WINE REGISTRY Version 2\n;; All keys relative to \\\\User\\\\S-1-5-21-0-0-0-1000\n\n#arch=win64\n\n[Software\\\\Demo] 1700000000\n#time=1da17\n"Name"="tab\\there \\x00e9"\n"Expand"=str(2):"%PATH%"\n"N"=dword:ffffffff\n',
      "",
      { "Software\\Demo": { Name: "tab\there é", Expand: { type: 2, text: "%PATH%" }, N: 4_294_967_295 } },
    ));
  it.each(
    byReason([
      ["[a]\n", "does not start as a registry file"],
      ['REGEDIT4\n"a"=dword:1\n', "line 2 is a value outside any key"],
      ['REGEDIT4\n[a]\n"a"=qword:1\n', "line 3 has a value of no known type"],
      ['REGEDIT4\n[a]\n"a"=dword:1\n"a"=dword:2\n', 'line 4 has the value "a" a second time'],
      ["REGEDIT4\n[a]\nnonsense\n", "line 3 is neither a key nor a value"],
    ]),
  )("is refused: %s", (why, text) => refused("registry", text, why));
});

describe("one value of a configuration file", () => {
  const files = { [PATH]: '{"a":{"b/c":"x"},"n":3,"list":[1]}' };
  const ask = (query: object, assert: object) => check("config", { path: PATH, ...query }, assert, { files });
  it("is text or a number where it is one", async () => {
    expect(
      await ask({ kind: "text", format: "json", at: "/a/b~1c" }, { type: "text", equals: "x" }),
    ).toMatchObject({ status: "passed" });
    expect(
      await ask({ kind: "number", format: "json", at: "/n" }, { type: "number", equals: 3 }),
    ).toMatchObject({ status: "passed" });
    expect(await ask({ kind: "json", at: "/list" }, json("/0", 1))).toMatchObject({ status: "passed" });
  });
  it("that is not there is absent, which fails", async () => {
    const { status, evidence } = await ask(
      { kind: "text", format: "json", at: "/none" },
      { type: "text", equals: "x" },
    );
    expect([status, evidence]).toEqual(["failed", `${PATH} holds nothing at /none`]);
  });
  it("of another type is ungraded: nothing is converted", async () => {
    const { status, evidence } = await ask(
      { kind: "text", format: "json", at: "/n" },
      { type: "text", equals: "3" },
    );
    expect([status, evidence]).toEqual(["ungraded", `${PATH}: what is at /n is a number, not a text`]);
  });
  it("of a file that is not there fails", async () => {
    expect((await check("config", { kind: "toml", path: PATH }, { type: "json", exists: true })).status).toBe(
      "failed",
    );
  });
});

describe("whatever became of a configuration file's bytes, it has a value or a fault:", () => {
  const seeds: [string, string | Uint8Array][] = [
    ["ini", "[a]\nx=1\n[b]\ny: 2\nz\n"],
    ["json", '{"a":[1,2,{"b":null}],"c":"\\u00e9"}'],
    ["jsonc", '{"a":[1,2,],/* x */"c":true}'],
    ["yaml", "a: &x [1, {b: 'c'}]\nd: *x\ne: |\n  text\n  more\n? f\n: g\n"],
    ["toml", 'a = 1\n[t]\nd = 1979-05-27\ns = """x"""\n[[l]]\nq = {r = 1}\n'],
    ["plist", fixture("demo.plist")],
    ["plist", fixture("demo-binary.plist")],
    ["registry", 'REGEDIT4\n\n[A\\B]\n@="x"\n"y"=hex:01,02\n"z"=dword:00000001\n'],
  ];
  it.each(seeds)("%s", async (kind, seed) => {
    const query = { kind, path: PATH, at: "", ...(kind === "ini" ? { repeated: false } : {}) };
    const bytes = typeof seed === "string" ? Buffer.from(seed) : seed;
    await survivesMutation(bytes, [{ channel: "config", query } as never], 400);
    expect(await answerOrFault({ channel: "config", query } as never, bytes)).toHaveProperty("type", "json");
  });
});
