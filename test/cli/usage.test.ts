import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { catalogue, groups } from "../../src/cli/catalogue.js";
import { cli } from "../support/cli.js";

let empty = "";
beforeAll(async () => {
  empty = await mkdtemp(join(tmpdir(), "shinken-cli-"));
});
afterAll(() => rm(empty, { recursive: true }));

describe("help", () => {
  it.each(catalogue.map((entry) => [entry.path.join(" "), entry] as const))(
    "of %s shows an example and exits 0",
    async (name, entry) => {
      const { code, stdout } = await cli([...entry.path, "--help"]);
      expect(code).toBe(0);
      expect(stdout).toContain(`Usage: shinken ${name}`);
      expect(stdout).toMatch(/Examples?:\n {2}shinken /);
    },
  );

  it.each(Object.keys(groups))(
    "of %s, which only holds others, shows an example and exits 0",
    async (name) => {
      const { code, stdout } = await cli([name, "--help"]);
      expect(code).toBe(0);
      expect(stdout).toMatch(new RegExp(`Example:\\n {2}shinken ${name} `));
    },
  );

  it("is the same by `help` and by `--help`", async () => {
    const [one, other] = [await cli(["help", "bench", "wire"]), await cli(["bench", "wire", "--help"])];
    expect(one).toEqual(other);
  });

  it("of the whole lists every command", async () => {
    const { code, stdout } = await cli(["--help"]);
    expect(code).toBe(0);
    for (const { path } of catalogue) expect(stdout).toMatch(new RegExp(`^ {2}${path[0]} `, "m"));
  });
});

describe("a command line that is wrong", () => {
  it.each([
    [["sevre"], 2, "Did you mean serve?"],
    [["bench", "work"], 2, "Did you mean fork?"],
    [["serve", "--prot", "1"], 2, "Did you mean --port?"],
    [["serve", "--port", "99999"], 2, "must be a whole number from 0 to 65535"],
    [["eval", "--replicas", "0", "x"], 2, "must be a whole number"],
    [["eval"], 2, "missing required argument"],
    [["run"], 125, "missing required argument"],
    [["run", "--copy", "nothing", "true"], 125, "must be FROM:TO"],
    [["machine", "run"], 64, "missing required argument"],
    [["machine", "run", "/no/such/file"], 3, "cannot be read"],
    [["machine", "run", "--memory", "8192", "x"], 64, "must be a whole number from 64 to 4096"],
    [["run", "--memory", "8192", "true"], 125, "must be a whole number from 64 to 4096"],
    [["bench", "fork", "--effort", "much"], 2, "must be a number above 0"],
    [["eval", "/no/such/folder"], 2, "no such file or folder"],
    [["task", "check", "/no/such/folder"], 2, "no such file or folder"],
    [["serve", "--tasks", "/no/such/folder"], 2, "no such file or folder"],
    [["image", "build", "shel"], 2, "did you mean shell?"],
    [["image", "build", "--locked", "/no/such/file"], 2, "cannot read the manifest"],
    [["serve", "--host", "0.0.0.0"], 2, "a bearer token is required"],
  ])("%j exits with %i and says why", async (words, code, why) => {
    const result = await cli(words);
    expect(result.stderr).toContain(why);
    expect(result.code).toBe(code);
    expect(result.stdout).toBe("");
  });

  it("is told to programs as an object", async () => {
    const { code, stdout } = await cli(["eval", "/no/such/folder", "--json"]);
    expect(code).toBe(2);
    expect((JSON.parse(stdout) as { error: unknown }).error).toMatchObject({
      code: "bad_task",
      retry: false,
    });
  });
});

describe("a command line that is wrong and asks for JSON", () => {
  it.each([
    [
      ["eval", "tasks/demo", "--replicas", "0", "--json"],
      2,
      "option '--replicas <k>' argument '0' is invalid",
    ],
    [["serve", "--json", "--prot", "1"], 2, "unknown option '--prot'"],
    [["task", "check", "--json"], 2, "missing required argument 'dir'"],
    [["bench", "--json", "work"], 2, "unknown option '--json'"],
  ])("%j is answered with one object", async (words, code, why) => {
    const result = await cli(words);
    expect(result.code).toBe(code);
    expect((JSON.parse(result.stdout) as { error: unknown }).error).toMatchObject({
      code: "bad_request",
      message: expect.stringContaining(why) as string,
      retry: false,
    });
    expect(result.stderr).toContain(why);
  });

  it("says nothing of its own on the output of a program that has the option itself", async () => {
    expect(await cli(["run", "--seed", "x", "ls", "--json"])).toMatchObject({ code: 125, stdout: "" });
  });
});

describe("without an image", () => {
  it("run says how to build one", async () => {
    const { code, stderr } = await cli(["run", "--", "true"], { env: { SHINKEN_CACHE: empty } });
    expect(stderr).toContain("shinken image build shell");
    expect(code).toBe(125);
  });

  it("run does not ask for one to be built that nobody can build", async () => {
    const { code, stderr } = await cli(["run", "--image", "nix", "--", "true"], {
      env: { SHINKEN_CACHE: empty },
    });
    expect(stderr).toContain("images that can be built: shell");
    expect(stderr).not.toContain("image build nix");
    expect(code).toBe(125);
  });

  it("image list is empty", async () => {
    const { code, stdout } = await cli(["image", "list", "--json"], { env: { SHINKEN_CACHE: empty } });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ images: [] });
  });

  it("doctor still says what it found", async () => {
    const { stdout } = await cli(["doctor", "--json"], { env: { SHINKEN_CACHE: empty } });
    const { facts, ok } = JSON.parse(stdout) as { facts: { name: string }[]; ok: boolean };
    expect(typeof ok).toBe("boolean");
    expect(facts.map((fact) => fact.name)).toContain("memory");
  });
});
