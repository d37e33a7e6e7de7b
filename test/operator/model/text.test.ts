import { describe, expect, it } from "vitest";
import { begun, scene, stepped } from "./support.js";

const block = (value: unknown) =>
  `\`\`\`json\n${typeof value === "string" ? value : JSON.stringify(value)}\n\`\`\``;

describe("a model without tool calls", () => {
  it("reads the tools in the system prompt, calls them in fenced JSON, and is told the results as text", async () => {
    const { player, asked } = await scene(
      (_, count) =>
        count === 0
          ? {
              content: `First I look.\n${block({ name: "exec", arguments: { command: "ls" } })}\nand then\n${block(
                {
                  name: "write_file",
                  arguments: { path: "a.md", content: "```json\n{}\n```\n" },
                },
              )}`,
            }
          : { content: block({ name: "done", arguments: {} }) },
      { dialect: "text" },
    );
    const turn = await player.next(begun);
    expect(turn?.actions).toEqual([
      { type: "exec", command: "ls" },
      { type: "write_file", path: "a.md", content: "```json\n{}\n```\n" },
    ]);
    expect(turn?.decision).toMatchObject({ dialect: "text", tools: [], output: { role: "assistant" } });
    expect(asked(0).tools).toBeUndefined();
    expect(asked(0).messages[0]?.content).toMatch(
      /- `shell`: Run a command in a bash session.*\n {2}Arguments: \{/,
    );
    expect((await player.next(stepped("one\n", "Wrote it.")))?.actions).toEqual([{ type: "done" }]);
    expect(asked(1).messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
    expect(asked(1).messages[3]?.content).toBe(
      "Result of call 1 (exec):\none\n\n\nResult of call 2 (write_file):\nWrote it.",
    );
  });

  it.each([
    ["a block that is no JSON", block("{name: exec}"), /Result of call 1 \(\):\nError: not valid JSON/],
    ["a block that is never closed", '```json\n{"name": "exec", "argu', /not valid JSON/],
    [
      "a block that is no call",
      block({ tool: "exec" }),
      /a call is \{"name": \.\.\., "arguments": \{\.\.\.\}\}/,
    ],
    ["a block of another language", "```sh\nls\n```", /The reply called no tool/],
    ["an unknown tool", block({ name: "bash", arguments: {} }), /there is no tool "bash"/],
  ])("is told what is wrong with %s", async (_, content, why) => {
    const { player, asked } = await scene(
      (__, count) => ({ content: count === 0 ? content : block({ name: "done", arguments: {} }) }),
      { dialect: "text" },
    );
    expect((await player.next(begun))?.actions).toEqual([{ type: "done" }]);
    expect(asked(1).messages[3]).toMatchObject({
      role: "user",
      content: expect.stringMatching(why) as string,
    });
  });
});
