import { afterAll, beforeAll, expect, it } from "vitest";
import { HostProvider } from "../support/host-sandbox/index.js";
import type { Sandbox } from "../../src/sandbox/sandbox.js";
import { act, describeOnHost } from "./support.js";

let provider: HostProvider;
let box: Sandbox;
beforeAll(async () => {
  provider = new HostProvider();
  box = await (await provider.imageGolden("shell")).fork();
});
afterAll(() => provider.close());

const read = async (path: string) => Buffer.from(await box.readFile(path)).toString();

describeOnHost("write_file", () => {
  it("makes a file and the folders on the way, with relative paths from where the task begins", async () => {
    const result = await act(
      box,
      { type: "write_file", path: "notes/a.txt", content: "grüße\n" },
      { cwd: "/home/agent/project" },
    );
    expect(result).toMatchObject({
      path: "/home/agent/project/notes/a.txt",
      text: "Wrote 8 bytes to /home/agent/project/notes/a.txt.",
    });
    expect(await read("/home/agent/project/notes/a.txt")).toBe("grüße\n");
  });

  it("appends, sets permissions, and takes bytes as base64", async () => {
    await act(box, { type: "write_file", path: "~/b.bin", content: "AP8=", encoding: "base64", mode: "750" });
    await act(box, {
      type: "write_file",
      path: "~/b.bin",
      content: "Cg==",
      encoding: "base64",
      append: true,
    });
    expect(Buffer.from(await box.readFile("/home/agent/b.bin")).toString("hex")).toBe("00ff0a");
    expect((await box.stat("/home/agent/b.bin")).mode).toBe(0o750);
  });

  it("refuses what is no base64 instead of writing something else", async () => {
    const result = await act(box, {
      type: "write_file",
      path: "c",
      content: "not base64!",
      encoding: "base64",
    });
    expect(result.error?.code).toBe("out_of_range");
    expect(await box.statIfExists("/home/agent/c")).toBeNull();
  });

  it("reports what the guest refuses as a result, so that the episode goes on", async () => {
    const result = await act(box, { type: "write_file", path: "/home/agent", content: "x" });
    expect(result.error).toMatchObject({ code: "guest_error" });
    expect(result.text).toContain("EISDIR");
  });
});

describeOnHost("read_file", () => {
  const lines = Array.from({ length: 5_000 }, (_, index) => `line ${index + 1}`);
  beforeAll(() => box.writeFile("/home/agent/long.txt", `${lines.join("\n")}\n`));

  it("shows a whole file", async () => {
    await box.writeFile("/home/agent/small", "one\ntwo");
    expect(await act(box, { type: "read_file", path: "small" })).toMatchObject({
      text: "one\ntwo",
      truncated: false,
    });
  });

  it("leaves out the middle of a long one and says how much", async () => {
    const result = await act(box, { type: "read_file", path: "long.txt", max_chars: 100 });
    expect(result.truncated).toBe(true);
    expect(result.text.startsWith("line 1\n")).toBe(true);
    expect(result.text.endsWith("line 5000\n")).toBe(true);
    expect(result.text).toContain(`[... ${lines.join("\n").length + 1 - 100} characters left out ...]`);
  });

  it.each([
    [[1, 1], "line 1\n"],
    [[4999, -1], "line 4999\nline 5000\n"],
    [[2, 4], "line 2\nline 3\nline 4\n"],
    [[5000, 9999], "line 5000\n"],
  ])("shows lines %j", async (range, text) => {
    expect(await act(box, { type: "read_file", path: "long.txt", lines: range })).toMatchObject({
      text,
      truncated: false,
    });
  });

  it("says how many lines there are when asked for later ones", async () => {
    const result = await act(box, { type: "read_file", path: "long.txt", lines: [5001, 5002] });
    expect(result.error).toEqual({
      code: "out_of_range",
      message: "/home/agent/long.txt has only 5000 lines",
    });
  });

  it("finds lines that lie across chunk borders", async () => {
    const wide = Array.from({ length: 40 }, (_, index) =>
      String.fromCharCode(97 + (index % 26)).repeat(100_000),
    );
    await box.writeFile("/home/agent/wide", wide.join("\n"));
    const result = await act(box, { type: "read_file", path: "wide", lines: [11, 12], max_chars: 1_000_000 });
    expect(result.text).toBe(`${wide[10]}\n${wide[11]}\n`);
    const last = await act(box, { type: "read_file", path: "wide", lines: [40, -1], max_chars: 1_000_000 });
    expect(last.text).toBe(wide[39]);
  });

  it("shows bytes from an offset", async () => {
    expect(await act(box, { type: "read_file", path: "long.txt", offset: 5, limit: 4 })).toMatchObject({
      text: "1\nli",
      bytes: 4,
    });
  });

  it("shows bytes that are no text safely", async () => {
    await box.writeFile(
      "/home/agent/odd",
      Buffer.from([0x41, 0xff, 0x00, 0xc3, 0xa9, 0xed, 0xa0, 0x80, 0x1b, 0x0a]),
    );
    const result = await act(box, { type: "read_file", path: "odd" });
    expect(result).toMatchObject({ text: "A\\xff\\x00é\\xed\\xa0\\x80\\x1b\n", escaped: true });
  });

  it("reports a file that is not there", async () => {
    const result = await act(box, { type: "read_file", path: "nowhere" });
    expect(result.error?.code).toBe("guest_error");
    expect(result.text).toContain("ENOENT");
  });
});

describeOnHost("edit_file", () => {
  const write = (text: string | Uint8Array) => box.writeFile("/home/agent/conf", text, { mode: 0o640 });
  const edit = (fields: Record<string, unknown>) => act(box, { type: "edit_file", path: "conf", ...fields });

  it("replaces the one occurrence, shows where, and keeps permissions", async () => {
    await write("a = 1\nb = 2\nc = 3\n");
    const result = await edit({ old_text: "b = 2", new_text: "b = 20\nbb = 21" });
    expect(await read("/home/agent/conf")).toBe("a = 1\nb = 20\nbb = 21\nc = 3\n");
    expect(result.text).toContain(
      "1 occurrence in /home/agent/conf, at line 2:\na = 1\nb = 20\nbb = 21\nc = 3\n",
    );
    expect((await box.stat("/home/agent/conf")).mode).toBe(0o640);
  });

  it("changes nothing if the text is not there", async () => {
    await write("a = 1\n");
    expect((await edit({ old_text: "a  = 1", new_text: "x" })).error?.code).toBe("no_match");
    expect(await read("/home/agent/conf")).toBe("a = 1\n");
  });

  it("changes nothing if the text is not unique, and names the lines", async () => {
    await write("x\ny\nx\n");
    const result = await edit({ old_text: "x", new_text: "z" });
    expect(result.error?.code).toBe("ambiguous_match");
    expect(result.text).toContain("lines 1, 3");
    expect(await read("/home/agent/conf")).toBe("x\ny\nx\n");
  });

  it("replaces all occurrences when told to", async () => {
    await write("x\ny\nx\n");
    expect(await edit({ old_text: "x", new_text: "$&", replace_all: true })).toMatchObject({
      replacements: 2,
    });
    expect(await read("/home/agent/conf")).toBe("$&\ny\n$&\n");
  });

  it("leaves bytes of other encodings as they are", async () => {
    await write(Buffer.from([0xe9, 0x20, 0x6b, 0xff, 0x0a]));
    await edit({ old_text: "k", new_text: "ü" });
    expect(Buffer.from(await box.readFile("/home/agent/conf")).toString("hex")).toBe("e920c3bcff0a");
  });
});
