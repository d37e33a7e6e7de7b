import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  actionDefinitions,
  cutMiddle,
  parseAction,
  parseActions,
  showBytes,
  toolDescriptions,
} from "../../src/env/aci/index.js";
import { ShinkenError } from "../../src/errors/index.js";
import { everything } from "./support.js";

function refused(work: () => unknown): ShinkenError {
  try {
    work();
  } catch (error) {
    if (error instanceof ShinkenError) return error;
    throw error;
  }
  throw new Error("it was accepted");
}

describe("parsing an action", () => {
  it("names a misspelt action and what was meant", () => {
    const error = refused(() =>
      parseActions(
        [
          { type: "wait", seconds: 1 },
          { type: "exce", argv: ["true"] },
        ],
        everything,
      ),
    );
    expect(error).toMatchObject({
      code: "bad_action",
      path: "actions[1].type",
      suggestion: 'did you mean "exec"?',
    });
  });

  it("names an unknown field and what was meant", () => {
    const error = refused(() => parseActions([{ type: "exec", comand: "true" }], everything));
    expect(error).toMatchObject({
      code: "bad_action",
      path: "actions[0].comand",
      suggestion: 'did you mean "command"?',
    });
  });

  it.each([
    [{ type: "exec" }, "actions[0].command"],
    [{ type: "exec", argv: ["a"], command: "a" }, "actions[0].command"],
    [{ type: "exec", argv: [] }, "actions[0].argv"],
    [{ type: "exec", argv: ["a\0b"] }, "actions[0].argv[0]"],
    [{ type: "exec", command: "x", env: { "A-B": "1" } }, "actions[0].env.A-B"],
    [{ type: "exec", command: "x", timeout_s: 0 }, "actions[0].timeout_s"],
    [{ type: "exec", command: "x".repeat(200_000) }, "actions[0].command"],
    [{ type: "write_file", path: "", content: "" }, "actions[0].path"],
    [{ type: "write_file", path: "a", content: "", mode: "999" }, "actions[0].mode"],
    [{ type: "read_file", path: "a", lines: [3, 2] }, "actions[0].lines"],
    [{ type: "read_file", path: "a", lines: [1, 2], offset: 3 }, "actions[0].lines"],
    [{ type: "edit_file", path: "a", old_text: "x", new_text: "x" }, "actions[0].new_text"],
    [{ type: "shell" }, "actions[0].command"],
    [{ type: "wait", seconds: -1 }, "actions[0].seconds"],
    [{ type: "fail" }, "actions[0].reason"],
    [{ type: "done", answer: 7 }, "actions[0].answer"],
    ["done", "actions[0].type"],
    [null, "actions[0].type"],
  ])("refuses %j at %s", (action, path) => {
    expect(refused(() => parseActions([action], everything))).toMatchObject({ code: "bad_action", path });
  });

  it("refuses a step without actions, with too many, and with actions after the end", () => {
    const one = { type: "wait", seconds: 1 };
    expect(refused(() => parseActions([], everything)).code).toBe("bad_action");
    expect(
      refused(() =>
        parseActions(
          Array.from({ length: 65 }, () => one),
          everything,
        ),
      ).code,
    ).toBe("bad_action");
    expect(refused(() => parseActions([{ type: "done" }, one], everything)).path).toBe("actions[0]");
  });

  it("refuses the whole step if the task does not grant one of its actions", () => {
    const step = [
      { type: "read_file", path: "a" },
      { type: "exec", command: "true" },
    ];
    const error = refused(() => parseActions(step, new Set(["files"] as const)));
    expect(error).toMatchObject({ code: "capability_denied", path: "actions[1].type" });
    expect(parseActions([{ type: "done" }], new Set())).toHaveLength(1);
  });

  it("fails only with our own errors, whatever it is given", () => {
    fc.assert(
      fc.property(
        fc.anything(),
        fc.constantFrom(...actionDefinitions.map(({ type }) => type)),
        (value, type) => {
          const action = typeof value === "object" && value !== null ? { ...value, type } : value;
          try {
            parseAction(action);
          } catch (error) {
            expect(error).toBeInstanceOf(ShinkenError);
          }
        },
      ),
    );
  });
});

describe("the tool descriptions", () => {
  it("describe every action that the task grants, as closed JSON Schemas without the type", () => {
    const tools = toolDescriptions(everything);
    expect(tools.map(({ name }) => name)).toEqual(actionDefinitions.map(({ type }) => type));
    for (const { input_schema: schema, description } of tools) {
      expect(schema).toMatchObject({ type: "object", additionalProperties: false });
      expect(Object.keys(schema["properties"] as object)).not.toContain("type");
      expect(schema["required"]).not.toContain("type");
      expect(description.length).toBeGreaterThan(20);
    }
  });

  it("leave out what the task does not grant", () => {
    expect(toolDescriptions(new Set(["files"] as const)).map(({ name }) => name)).toEqual([
      "read_file",
      "write_file",
      "edit_file",
      "wait",
      "done",
      "fail",
    ]);
  });
});

describe("showing bytes", () => {
  it("keeps text that can be shown exactly as it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const clean = text.replace(/[\p{Cc}]/gu, "");
        expect(showBytes(Buffer.from(clean))).toEqual({ text: clean, escaped: false });
      }),
    );
  });

  it("yields well-formed text without control characters for any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const { text } = showBytes(bytes);
        expect(Buffer.from(text).toString()).toBe(text);
        expect(text).not.toMatch(/[^\P{Cc}\t\n\r]/u);
      }),
    );
  });

  it("agrees with the platform's decoder on what is valid UTF-8", () => {
    fc.assert(
      fc.property(fc.uint8Array({ min: 0x80, maxLength: 6 }), (bytes) => {
        const loose = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
        const pieces = showBytes(bytes).text.replace(/\\x[0-9a-f]{2}/g, "");
        expect(Array.from(pieces).every((character) => loose.includes(character))).toBe(true);
        if (!loose.includes("\ufffd")) expect(pieces).toBe(loose.replace(/\p{Cc}/gu, ""));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("cutting the middle out", () => {
  it("keeps both ends, says what is missing, and never parts a character", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", minLength: 1 }),
        fc.integer({ min: 1, max: 50 }),
        (text, max) => {
          const cut = cutMiddle(text, max);
          expect(cut.truncated).toBe(text.length > max);
          if (!cut.truncated) expect(cut.text).toBe(text);
          expect(Buffer.from(cut.text).toString()).toBe(cut.text);
          if (cut.truncated) expect(cut.text).toContain(`[... ${text.length - max} characters left out ...]`);
        },
      ),
    );
  });
});
