import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { launcher } from "../../src/cli/root.js";

/** Runs the launcher over a main module of this text. */
function launch(main: string): { code: number | null; stderr: string } {
  const folder = mkdtempSync(join(tmpdir(), "shinken-launcher-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const made of ["bin", "dist/cli"]) mkdirSync(join(folder, made), { recursive: true });
  copyFileSync(launcher(), join(folder, "bin", "shinken"));
  writeFileSync(join(folder, "bin", "package.json"), '{"type":"commonjs"}');
  writeFileSync(join(folder, "dist", "package.json"), '{"type":"module"}');
  writeFileSync(join(folder, "dist", "cli", "main.js"), main);
  const { status, stderr } = spawnSync(process.execPath, [join(folder, "bin", "shinken")], {
    encoding: "utf8",
  });
  return { code: status, stderr };
}

describe("the launcher", () => {
  it("ends with 0 after a command that is done, and with what a command says", () => {
    expect(launch("await Promise.resolve();")).toEqual({ code: 0, stderr: "" });
    expect(launch("process.exitCode = 1;")).toEqual({ code: 1, stderr: "" });
    expect(launch("setTimeout(() => process.exit(0)); await new Promise(() => {});")).toEqual({
      code: 0,
      stderr: "",
    });
  });

  it("does not call it success when a command waits for what never comes", () => {
    const { code, stderr } = launch("await new Promise(() => {});");
    expect(code).toBe(3);
    expect(stderr).toContain("ended before it was done");
  });
});
