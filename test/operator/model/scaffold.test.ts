import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { dialectNames, dialects } from "../../../src/operator/model/dialects/index.js";
import { scaffoldVersion, systemOf, systemPrompt, toolsOf } from "../../../src/operator/model/scaffold.js";
import { modelOperator } from "../../../src/operator/index.js";
import { key, task } from "./support.js";

/** Of each version, what a model is told: it never changes under one name. */
const released: Record<string, string> = {
  "shell-1": "ea099ee6062b15768004f42748ae7164445b2e90f074e47074b1029026f0d4d2",
};

describe("the scaffold", () => {
  it("has another version where its words or tools are others", () => {
    const tools = toolsOf(task.variant());
    const told = dialectNames.map((name) => [systemOf(dialects[name], tools), dialects[name].offer(tools)]);
    const digest = createHash("sha256").update(JSON.stringify(told)).digest("hex");
    expect(digest).toBe(released[scaffoldVersion]);
  });

  it("stands in the documentation word for word", () => {
    const page = readFileSync(new URL("../../../docs/operators.md", import.meta.url), "utf8");
    const quoted = systemPrompt
      .split("\n")
      .map((line) => (line === "" ? ">" : `> ${line}`))
      .join("\n");
    expect(page).toContain(quoted);
    expect(page).toContain(`\`${scaffoldVersion}\``);
  });

  it("says nothing of any task", () => {
    expect(systemPrompt).not.toMatch(/two|file|clean|csv|invoice/i);
  });
});

describe("an operator's settings", () => {
  const input = { base_url: "http://127.0.0.1:1/v1", model: "m" };

  it("are told whole, with what is unsaid, and without the key", () => {
    const operator = modelOperator({ ...input, seed: 4 }, key);
    expect(operator).toMatchObject({ name: "openai:m", model: "m", scaffold: "shell-1" });
    expect(operator.scripted).toBeUndefined();
    expect(operator.settings).toMatchObject({
      temperature: 1,
      top_p: null,
      seed: 4,
      max_tokens: 4_096,
      context_tokens: 32_768,
      dialect: "tools",
      budget: { steps: 100, tokens_in: null, tokens_out: null, wall_s: null, dollars: null },
      retry: { tries: 6, base_ms: 500, cap_ms: 30_000, patience_ms: 120_000 },
    });
    expect(JSON.stringify(operator)).not.toContain(key);
  });

  it.each([
    [{ temprature: 1 }, "temprature", 'did you mean "temperature"?'],
    [{ temperature: 3 }, "temperature", undefined],
    [{ budget: { step: 1 } }, "budget.step", 'did you mean "steps"?'],
    [{ budget: { dollars: 1 } }, "price", "give the price of a million tokens in and out"],
    [{ max_tokens: 5_000, context_tokens: 5_000 }, "max_tokens", undefined],
    [{ base_url: "http://me:secret@127.0.0.1/v1" }, "base_url", undefined],
    [{ base_url: "127.0.0.1" }, "base_url", undefined],
  ])("%j are refused with the place", (wrong, path, suggestion) => {
    const make = () => modelOperator({ ...input, ...(wrong as object) }, key);
    expect(make).toThrow(expect.objectContaining({ code: "bad_request", path, suggestion }) as Error);
  });
});
