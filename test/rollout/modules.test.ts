import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { testModule } from "../../src/rollout/index.js";
import { moduleNames, modulesFolder } from "../../src/verifiers/index.js";
import { machinesUnavailable, providerForFile } from "../support/machine.js";
import { grade, graphOf } from "../verifiers/support.js";

/** Runs an action on a copy of a module's folder. */
async function withCopy<T>(name: string, action: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "module-"));
  try {
    cpSync(`${modulesFolder}${name}`, folder, { recursive: true });
    return await action(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function change(file: string, from: string, to: string): void {
  const text = readFileSync(file, "utf8");
  expect(text).toContain(from);
  writeFileSync(file, text.replace(from, to));
}

const asking = (query: object): object => ({
  id: "m",
  channel: "module",
  query,
  assert: { type: "json", path: "/branch", equals: "main" },
});
const query = { module: "git", ask: "status", args: { path: "/r" } };

describe("a module", () => {
  it.each(moduleNames())("%s answers its tests as a guest did when it was recorded", async (name) => {
    const report = await testModule(`${modulesFolder}${name}`, { provider: null });
    expect(report.cases.filter(({ ok }) => !ok)).toEqual([]);
    expect(report).toMatchObject({ name, from: "recording", ok: true });
    expect(report.cases.length).toBeGreaterThan(2);
  });

  it("whose program has changed must be recorded anew", async () => {
    await withCopy("git", async (folder) => {
      writeFileSync(`${folder}/git_state.py`, "print(1)\n");
      await expect(testModule(folder, { provider: null })).rejects.toMatchObject({
        code: "bad_task",
        message: expect.stringContaining("another version") as string,
      });
    });
  });

  it("fails a test that wants something else", async () => {
    await withCopy("git", async (folder) => {
      change(`${folder}/tests/work.yaml`, "staged: [a]", "staged: [b]");
      const report = await testModule(folder, { provider: null });
      expect(report.ok).toBe(false);
      expect(report.cases[0]?.why).toContain('"staged":["a"]');
    });
  });

  it("fails a test that wants a key more, whatever it is called", async () => {
    await withCopy("git", async (folder) => {
      change(`${folder}/tests/work.yaml`, "{ contains: true }", '{ contains: true, "__proto__": 1 }');
      expect((await testModule(folder, { provider: null })).ok).toBe(false);
    });
  });

  it.each([
    ["format: 1", "format: 2", "module.yaml.format"],
    ["queries:", "queries:\n  __proto__: { summary: x }", "module.yaml.queries.__proto__"],
    ["name: git", "nam: git", "module.yaml.nam"],
    ["program: git_state.py", "program: ../x.py", "module.yaml.program"],
    ["args: { type: object", "args: { type: array", "module.yaml.queries.status.args"],
  ])("with %j changed to %j is refused by its place", async (from, to, path) => {
    await withCopy("git", async (folder) => {
      change(`${folder}/module.yaml`, from, to);
      await expect(testModule(folder, { provider: null })).rejects.toMatchObject({ code: "bad_task", path });
    });
  });

  it.each([
    [{ ...query, module: "gitt" }, "graph.query.module", "git"],
    [{ ...query, ask: "statu" }, "graph.query.ask", "status"],
    [{ ...query, args: {} }, "graph.query.args", undefined],
    [{ ...query, args: { path: 1 } }, "graph.query.args.path", undefined],
    [{ ...query, args: { path: "/r", deep: true } }, "graph.query.args.deep", undefined],
    [{ ...query, args: { pth: "/r" } }, "graph.query.args.pth", "path"],
  ])("that is asked what it does not answer is refused at load: %j", (wrong, path, meant) => {
    try {
      graphOf(asking(wrong));
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ code: "bad_task", path });
      if (meant !== undefined) expect(error).toMatchObject({ suggestion: `did you mean "${meant}"?` });
    }
  });

  it("is a part of the version of a verifier that asks it", () => {
    const other = graphOf(asking({ ...query, module: "git" }));
    expect(other.verifierVersion).toMatch(/^[0-9a-f]{64}$/);
    expect(other.verifierVersion).not.toBe(
      graphOf({ ...asking(query), channel: "exec-json", query: { argv: ["/usr/bin/git"] } }).verifierVersion,
    );
  });

  it("whose program breaks leaves the check ungraded, whatever on_error says", async () => {
    const python = () => ({ exitCode: 1, stderr: new TextEncoder().encode("Traceback") });
    const verdict = await grade(
      { ...asking(query), on_error: "fail" },
      { commands: { "/usr/bin/python3": python } },
    );
    expect(verdict.reason).toContain("grader_error: the module git");
  });
});

const unavailable = await machinesUnavailable();
const provider = providerForFile();

describe.skipIf(unavailable !== null)("a module on a real guest", () => {
  it.each(moduleNames())("%s answers its tests", async (name) => {
    const report = await testModule(`${modulesFolder}${name}`, { provider: provider() });
    expect(report.cases.filter(({ ok }) => !ok)).toEqual([]);
    expect(provider().openMachines()).toBe(0);
  });
});
