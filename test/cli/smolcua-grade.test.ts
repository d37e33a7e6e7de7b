import { execFile } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { textLines } from "../../src/cli/text-lines.js";
import { gradeLine } from "../../src/smolcua/index.js";

const shinken = join(import.meta.dirname, "..", "..", "bin", "shinken");
const letter = { kind: "letter", letters: "ABCD" };

function grade(input: string): Promise<{ code: number; lines: unknown[] }> {
  return new Promise((resolve) => {
    const child = execFile(shinken, ["smolcua", "grade"], (error, stdout) => {
      const lines = stdout.split("\n").filter((line) => line !== "");
      resolve({ code: Number(error?.code ?? 0), lines: lines.map((line) => JSON.parse(line) as unknown) });
    });
    child.stdin?.end(input);
  });
}

async function collected(chunks: readonly Buffer[], most: number): Promise<string[]> {
  async function* input(): AsyncGenerator<Buffer> {
    for (const chunk of chunks) yield await Promise.resolve(chunk);
  }
  const lines: string[] = [];
  for await (const line of textLines(input(), most)) lines.push(line);
  return lines;
}

describe("shinken smolcua grade", () => {
  it("prints a verdict for each line, and goes on after one that is wrong in itself", async () => {
    const { code, lines } = await grade(
      [
        JSON.stringify({ id: "a", contract: letter, key: "B", answer: " B\n" }),
        "",
        JSON.stringify({ id: "b", contract: { ...letter, letterz: 1 }, key: "B", answer: "B" }),
        JSON.stringify({ id: 3, contract: letter, key: "B", answer: "```\nB\n```" }),
      ].join("\n"),
    );
    expect(code).toBe(1);
    expect(lines).toMatchObject([
      { id: "a", correct: true, reason: "correct", correct_without_fence: true },
      { id: "b", error: { code: "bad_request", path: "line 3.contract.letterz" } },
      { id: 3, correct: false, reason: "code_fence", correct_without_fence: true },
    ]);
  });

  it("keeps what other readers take for the end of a line", () => {
    const answer = "a\u2028b\u0085c";
    const line = JSON.stringify({ id: 1, contract: { kind: "literal" }, key: answer, answer });
    return expect(collected([Buffer.from(`${line}\n${line}`)], 1000)).resolves.toEqual([line, line]);
  });

  it("reads lines over any cut of bytes, and cuts those that are too long", async () => {
    const bytes = Buffer.from("é€😀\n\nab\nabcdefgh\nz");
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const lines = await collected([bytes.subarray(0, cut), bytes.subarray(cut)], 5);
      expect(lines).toEqual(["é€😀", "", "ab", "abcdef", "z"]);
    }
  });
});

describe("a line to grade", () => {
  it.each([
    ["no JSON", "nope", "L"],
    ["a key twice", '{"id":1,"id":2}', "L"],
    ["a list", "[]", "L"],
    ["no contract", '{"key":1,"answer":""}', "L.contract"],
    ["no answer", JSON.stringify({ contract: letter, key: "A" }), "L.answer"],
    ["a key of another kind", JSON.stringify({ contract: letter, key: 1, answer: "" }), "L.key"],
    ["a letter that is none", JSON.stringify({ contract: letter, key: "E", answer: "" }), "L.key"],
    [
      "an empty last cell",
      JSON.stringify({ contract: { kind: "tsv", rows: 1, columns: 2 }, key: [["a", ""]], answer: "" }),
      "L.key",
    ],
    [
      "a row too few",
      JSON.stringify({ contract: { kind: "tsv", rows: 2, columns: 1 }, key: [["a"]], answer: "" }),
      "L.key",
    ],
    [
      "a name of its own",
      JSON.stringify({
        contract: { kind: "pairs", names: ["a"], separator: "=" },
        key: { a: "1", b: "2" },
        answer: "",
      }),
      "L.key.b",
    ],
    [
      "a template without places",
      JSON.stringify({ contract: { kind: "coordinates", template: "x" }, key: {}, answer: "" }),
      "L.contract.template",
    ],
    ["more than a line may have", `{"answer":"${"x".repeat(1_048_576)}"}`, "L"],
  ])("with %s is refused with its place", (_what, line, path) => {
    expect(gradeLine(line, "L").error).toMatchObject({ path });
  });
});
