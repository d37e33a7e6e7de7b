import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadAddon } from "../../src/sandbox/microvm/addon.js";
import { goldenFolder } from "../../src/sandbox/microvm/golden-folder.js";
import { GoldenStore } from "../../src/sandbox/microvm/golden-store.js";
import { endlessProgram } from "../addon/program.js";
import { cli, namesOf, root } from "../support/cli.js";

let cache: string;
let state: string;
const key = "ab".repeat(32);
const env = (): NodeJS.ProcessEnv => ({ SHINKEN_CACHE: cache });
const file = (): string => join(goldenFolder(cache), `${state}.golden`);

beforeAll(async () => {
  cache = mkdtempSync(join(tmpdir(), "shinken-golden-cli-"));
  const program = join(cache, "program.bin");
  writeFileSync(program, endlessProgram());
  const machine = await loadAddon().bootMachine({ program, memoryMiB: 64 });
  await machine.run({ maxInstructions: 100 });
  const golden = await machine.freeze();
  state = await golden.digest();
  await new GoldenStore(cache).save(key, golden, "the note");
  golden.close();
  await machine.close();
});
afterAll(() => {
  rmSync(cache, { recursive: true });
});

describe("the commands on goldens", () => {
  it("list what is there", async () => {
    const { code, stdout } = await cli(["golden", "list", "--json"], { env: env() });
    expect(code).toBe(0);
    const { goldens } = JSON.parse(stdout) as { goldens: unknown[] };
    expect(goldens).toHaveLength(1);
    expect(goldens[0]).toMatchObject({ name: state, keys: [key], fault: null, facts: { version: 2 } });
    expect(namesOf(goldens).filter((name) => !/^[a-z0-9_]+$/.test(name))).toEqual([]);
    expect((await cli(["golden", "list"], { env: env() })).stdout).toContain(state.slice(0, 16));
  });

  it("show one by its state, its key or its file", async () => {
    for (const named of [state, key.slice(0, 12), file()]) {
      const { code, stdout } = await cli(["golden", "show", named], { env: env() });
      expect(code).toBe(0);
      expect(stdout).toContain("the note");
      expect(stdout).toContain("64 MiB");
    }
  });

  it("read a file of version 1", async () => {
    const old = join(root, "native", "test", "golden", "echo-v1.golden");
    const { code, stdout } = await cli(["golden", "show", old, "--json"], { env: env() });
    expect(code).toBe(0);
    expect((JSON.parse(stdout) as { golden: unknown }).golden).toMatchObject({ facts: { version: 1 } });
    expect((await cli(["golden", "verify", old], { env: env() })).code).toBe(0);
  });

  it("say which golden is missing", async () => {
    const { code, stderr } = await cli(["golden", "show", "0123456789"], { env: env() });
    expect(code).toBe(3);
    expect(stderr).toContain("there is no golden 0123456789");
  });

  it("verify each, and name the part that is wrong", async () => {
    expect((await cli(["golden", "verify"], { env: env() })).code).toBe(0);
    const bytes = readFileSync(file());
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    const altered = join(cache, "altered.golden");
    writeFileSync(altered, bytes);
    const { code, stdout } = await cli(["golden", "verify", file(), altered, "--json"], { env: env() });
    expect(code).toBe(1);
    const { goldens, damaged } = JSON.parse(stdout) as { goldens: unknown[]; damaged: number };
    expect(damaged).toBe(1);
    expect(goldens).toMatchObject([{ fault: null }, { path: altered, fault: { code: "golden_page" } }]);
  });

  it("remove what is beyond the limit, but not what is in use", async () => {
    const spare = join(goldenFolder(cache), `${"c".repeat(32)}.golden`);
    copyFileSync(file(), spare);
    const { code, stdout } = await cli(["golden", "gc", "--max-mib", "0", "--json"], { env: env() });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ done: [], dry_run: false });
  });
});
