import { describe, expect, it } from "vitest";
import { outside } from "../../src/cli/json.js";
import { namesOf } from "../support/cli.js";

describe("what --json prints", () => {
  it("has the names of the wire, all the way down, and the values as they are", () => {
    const report = {
      episodes: [
        { verdict: { taskVersion: "1.0.0", checks: [] }, resetMs: 1.5, stepMs: [2, 3], reason: null },
      ],
      facts: { memoryMiB: 512, codeBlocks: 0, pass_hat_k: 1, text: "resetMs" },
    };
    expect(outside(report)).toEqual({
      episodes: [
        { verdict: { task_version: "1.0.0", checks: [] }, reset_ms: 1.5, step_ms: [2, 3], reason: null },
      ],
      facts: { memory_mib: 512, code_blocks: 0, pass_hat_k: 1, text: "resetMs" },
    });
    expect(namesOf(outside(report)).filter((name) => /[A-Z]/.test(name))).toEqual([]);
  });
});
