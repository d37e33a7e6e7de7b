import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { AgentClient } from "../../src/sandbox/agent/index.js";
import { buildHostAgent, ProcessTransport } from "./process-transport.js";

const user = userInfo().username;
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

let path: string;
let folder: string;
let transport: ProcessTransport;
let agent: AgentClient;

beforeAll(() => {
  path = buildHostAgent();
  folder = mkdtempSync(join(tmpdir(), "shinken-agent-test-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => {
  transport = new ProcessTransport(path);
  agent = new AgentClient(transport);
});
afterEach(async () => {
  await transport.close();
  expect(transport.complaints).toBe("");
});

const run = (script: string, more: object = {}) => agent.exec({ argv: ["sh", "-c", script], user, ...more });

describe("a command", () => {
  it("gives its exit code and both of its outputs", async () => {
    const result = await run("echo out; echo err >&2; exit 7");
    expect(result).toMatchObject({ exitCode: 7, signal: null, timedOut: false, oomKilled: false });
    expect([text(result.stdout), text(result.stderr)]).toEqual(["out\n", "err\n"]);
  });

  it("gives the signal that ended it", async () => {
    expect(await run("kill -TERM $$")).toMatchObject({ exitCode: null, signal: 15 });
  });

  it.each([0, 5, 100_000, 262_144, 262_145, 3_000_000])(
    "reads all %i bytes of its standard input",
    async (size) => {
      const stdin = new Uint8Array(size).map((_, index) => index * 31);
      const result = await agent.exec({ argv: ["cat"], user, stdin, maxOutputBytes: 4_000_000 });
      expect(Buffer.compare(result.stdout, stdin)).toBe(0);
    },
  );

  it.each([200_000, 300_000])("ends normally when it reads none of %i bytes", async (size) => {
    expect(await agent.exec({ argv: ["true"], user, stdin: new Uint8Array(size) })).toMatchObject({
      exitCode: 0,
    });
  });

  it("has an empty standard input when none is given", async () => {
    expect(text((await run("cat; echo end")).stdout)).toBe("end\n");
  });

  it("keeps only as much output as was asked for and counts the rest", async () => {
    const result = await run("head -c 100000 /dev/zero; head -c 500 /dev/zero >&2", { maxOutputBytes: 1000 });
    expect(result.stdout).toHaveLength(1000);
    expect(result.stderr).toHaveLength(500);
    expect(result).toMatchObject({ stdoutDropped: 99_000, stderrDropped: 0 });
  });

  it("is killed with its whole process group at its deadline", async () => {
    const result = await run("sleep 98.76 & sleep 98.76", { timeoutMs: 150 });
    expect(result).toMatchObject({ timedOut: true, signal: 9, exitCode: null });
    await agent.wait(300);
    const left = (await agent.processes()).filter((one) => one.argv.join(" ") === "sleep 98.76");
    expect(left).toEqual([]);
  });

  it("may leave something in the background that goes on writing", async () => {
    const file = join(folder, "background");
    const result = await run(`(sleep 0.2; echo late; echo alive > ${file}) & echo started`);
    expect(text(result.stdout)).toBe("started\n");
    await agent.wait(600);
    expect(text(await agent.readFile(file))).toBe("alive\n");
  });

  it("runs in the folder and with the variables that it is given", async () => {
    const result = await run("pwd; echo $COLOUR $HOME", { cwd: folder, env: { COLOUR: "blau", HOME: "/x" } });
    expect(text(result.stdout)).toBe(`${folder}\nblau /x\n`);
  });

  it("has nothing but its own variables in a clean environment", async () => {
    const result = await agent.exec({
      argv: ["/usr/bin/env"],
      user,
      cleanEnv: true,
      env: { A: "1", B: "=" },
    });
    expect(text(result.stdout)).toBe("A=1\nB==\n");
  });

  it("is looked up in the path of its own environment", async () => {
    const result = agent.exec({ argv: ["env"], user, cleanEnv: true, env: { PATH: folder } });
    await expect(result).rejects.toMatchObject({ code: "guest_error", errno: "ENOENT", step: "exec" });
  });

  it.each([
    ["a program that is not there", { argv: ["no-such-program"] }, "ENOENT", "exec"],
    ["a program that is a folder", { argv: ["/"] }, "EACCES", "exec"],
    ["a folder that is not there", { argv: ["true"], cwd: "/no/such/folder" }, "ENOENT", "cwd"],
    ["a user that is not there", { argv: ["true"], user: "nobody-of-that-name" }, "ENOENT", "user"],
    ["no arguments at all", { argv: [] }, "EINVAL", "argv"],
    ["a NUL in an argument", { argv: ["echo", "a\0b"] }, "EINVAL", "argv"],
    ["a variable with an equals sign in its name", { argv: ["true"], env: { "A=B": "c" } }, "EINVAL", "env"],
  ])("is refused with the reason for %s", async (_name, request, errno, step) => {
    await expect(agent.exec({ user, ...request })).rejects.toMatchObject({
      code: "guest_error",
      errno,
      step,
    });
  });

  it.each([
    [{ argv: ["true"], user: "zz" }, "exec true: there is no user zz (ENOENT)"],
    [{ argv: ["true"], cwd: "/no/such" }, "exec true: cwd /no/such: no such file or directory (ENOENT)"],
    [{ argv: ["no-such-program"] }, "exec no-such-program: no such file or directory (ENOENT)"],
    [{ argv: ["true"], env: { "A=B": "c" } }, "exec true: env: invalid argument (EINVAL)"],
  ])("says in words why %j is refused", async (request, message) => {
    await expect(agent.exec({ user, ...request })).rejects.toThrow(
      expect.objectContaining({ message }) as Error,
    );
  });

  it("runs a script without an interpreter line as the shell would", async () => {
    const file = join(folder, "bare");
    await agent.writeFile(file, "echo bare $1\n", { mode: 0o755, user });
    expect(text((await agent.exec({ argv: [file, "x"], user })).stdout)).toBe("bare x\n");
  });

  it("can be one of many in a row without anything left behind", async () => {
    const descriptors = async (): Promise<string> =>
      text((await run("sleep 0.2; ls /proc/$PPID/fd | wc -l")).stdout);
    const before = await descriptors();
    for (let i = 0; i < 50; i++) expect(await run(`exit ${i}`)).toMatchObject({ exitCode: i });
    expect(await descriptors()).toBe(before);
  });
});

describe("a file", () => {
  it("comes back as it was written, of any size", async () => {
    for (const size of [0, 1, 32_752, 32_753, 65_536, 1_000_003]) {
      const file = join(folder, "sizes", String(size));
      const bytes = new Uint8Array(size).map((_, index) => index * 13 + size);
      await agent.writeFile(file, bytes, { user });
      expect(Buffer.compare(readFileSync(file), bytes)).toBe(0);
      expect(Buffer.compare(await agent.readFile(file), bytes)).toBe(0);
      expect(await agent.hash(file)).toBe(createHash("sha256").update(bytes).digest("hex"));
    }
  });

  it("is read in part", async () => {
    const file = join(folder, "part");
    await agent.writeFile(file, "0123456789", { user });
    expect(text(await agent.readFile(file, { offset: 3, limit: 4 }))).toBe("3456");
    expect(text(await agent.readFile(file, { offset: 8, limit: 100 }))).toBe("89");
    expect(await agent.readFile(file, { offset: 11 })).toHaveLength(0);
  });

  it("is appended to, replaced, and given its mode", async () => {
    const file = join(folder, "modes");
    await agent.writeFile(file, "a long first content", { user, mode: 0o640 });
    await agent.writeFile(file, "b", { user });
    await agent.writeFile(file, "c", { user, append: true });
    expect(text(await agent.readFile(file))).toBe("bc");
    expect(statSync(file).mode & 0o7777).toBe(0o640);
  });

  it("needs its folder when parents are not to be made", async () => {
    const write = agent.writeFile(join(folder, "none", "x"), "x", { user, parents: false });
    await expect(write).rejects.toMatchObject({ errno: "ENOENT", step: "open" });
    expect(await agent.exec({ argv: ["true"], user })).toMatchObject({ exitCode: 0 });
  });

  it.each([
    ["a folder", () => folder, "EISDIR"],
    ["a device", () => "/dev/zero", "ENXIO"],
    ["a pipe, without waiting for a writer", () => join(folder, "pipe"), "ENXIO"],
    ["nothing", () => join(folder, "absent"), "ENOENT"],
    ["a relative path", () => "etc/passwd", "EINVAL"],
    ["a loop of links", () => join(folder, "loop"), "ELOOP"],
  ])("is not read from %s", async (_name, where, errno) => {
    execFileSync("sh", ["-c", "test -p pipe || mkfifo pipe; ln -sfn loop loop"], { cwd: folder });
    await expect(agent.readFile(where())).rejects.toMatchObject({ code: "guest_error", errno });
  });

  it("is described without following a last link", async () => {
    const file = join(folder, "described");
    await agent.writeFile(file, "12345", { user, mode: 0o600 });
    execFileSync("ln", ["-sfn", "described", join(folder, "link")]);
    expect(await agent.stat(file)).toMatchObject({
      path: file,
      type: "file",
      size: 5,
      mode: 0o600,
      uid: userInfo().uid,
    });
    expect(await agent.stat(join(folder, "link"))).toMatchObject({ type: "symlink", target: "described" });
    expect(await agent.statIfExists(join(folder, "nothing"))).toBeNull();
    expect(await agent.statIfExists(join(file, "below-a-file"))).toBeNull();
    expect(Math.abs((await agent.stat(file)).mtime - statSync(file).mtimeMs / 1000)).toBeLessThan(0.001);
  });

  it("is looked at with all that it holds, unless that is much", async () => {
    const at = (name: string): string => join(folder, name);
    await agent.writeFile(at("small"), "12345", { user, mode: 0o600 });
    await agent.writeFile(at("empty"), "", { user });
    await agent.writeFile(at("large"), new Uint8Array(100_000), { user });
    execFileSync("sh", ["-c", "ln -sfn small looked; test -p pipe || mkfifo pipe; mkdir -p inner"], {
      cwd: folder,
    });
    const look = async (path: string): Promise<[unknown, string | undefined]> => {
      const found = await agent.look(path);
      expect(found?.stat).toEqual(await agent.stat(path));
      return [found?.stat.type, found?.bytes === undefined ? undefined : text(found.bytes)];
    };
    expect(await look(at("small"))).toEqual(["file", "12345"]);
    expect(await look(at("empty"))).toEqual(["file", ""]);
    expect(await look(at("large"))).toEqual(["file", undefined]);
    expect(await look(at("looked"))).toEqual(["symlink", undefined]);
    expect(await look(at("pipe"))).toEqual(["fifo", undefined]);
    expect(await look(at("inner"))).toEqual(["directory", undefined]);
    expect(await look("/dev/zero")).toEqual(["char", undefined]);
    expect(await look("/")).toEqual(["directory", undefined]);
    expect(await agent.look(at("nothing"))).toBeNull();
    expect(await agent.look(join(at("small"), "below-a-file"))).toBeNull();
    // Its size is said to be 0.
    expect(text((await agent.look("/proc/version"))?.bytes ?? new Uint8Array(0))).toMatch(/^Linux version/);
    await expect(agent.look("/proc/self/mem")).rejects.toMatchObject({ code: "guest_error", errno: "EIO" });
  });

  it("is listed with its siblings in order, any number of them", async () => {
    const many = join(folder, "many");
    execFileSync("sh", [
      "-c",
      `mkdir -p ${many} && cd ${many} && seq -w 0 4999 | sed 's/^/a-rather-long-name-for-a-file-/' | xargs touch`,
    ]);
    const entries = await agent.list(many);
    expect(entries).toHaveLength(5000);
    expect(entries[1234]).toMatchObject({
      path: `${many}/a-rather-long-name-for-a-file-1234`,
      type: "file",
      size: 0,
    });
    expect(await agent.list(many, 3)).toEqual(entries.slice(0, 3));
    await expect(agent.list("/etc/passwd")).rejects.toMatchObject({ errno: "ENOTDIR" });
  });
});

describe("the agent", () => {
  it("introduces itself", async () => {
    expect(await agent.hello()).toEqual({ protocol: 1, ports: 2, hostTest: true, controllers: false });
  });

  it("serves two ports that do not disturb each other", async () => {
    const grader = new AgentClient(transport, { port: 1 });
    expect(text((await grader.exec({ argv: ["echo", "grader"], user })).stdout)).toBe("grader\n");
    expect(text((await run("echo agent")).stdout)).toBe("agent\n");
  });

  it("answers requests that are made at once, in their order", async () => {
    const results = await Promise.all(["a", "b", "c"].map((word) => run(`echo ${word}`)));
    expect(results.map((result) => text(result.stdout))).toEqual(["a\n", "b\n", "c\n"]);
  });

  it("sees processes with their arguments", async () => {
    const [, found] = await Promise.all([run("sleep 5.25 >/dev/null 2>&1 &"), agent.processes()]);
    expect(found.find((one) => one.argv.join(" ") === "sleep 5.25")).toMatchObject({
      name: "sleep",
      uid: userInfo().uid,
    });
    expect(found.map((one) => one.pid)).toEqual(found.map((one) => one.pid).sort((a, b) => a - b));
    const lines = await agent.commandLines();
    const still = new Set(lines.map(({ pid }) => pid));
    expect(lines).toEqual(expect.arrayContaining([expect.objectContaining({ argv: ["sleep", "5.25"] })]));
    expect(found.filter(({ pid }) => still.has(pid)).map(({ pid, argv }) => ({ pid, argv }))).toEqual(
      lines.filter(({ pid }) => found.some((one) => one.pid === pid)),
    );
  });

  it("reads files ahead and passes over those that are not there", async () => {
    const file = join(folder, "warm");
    await agent.writeFile(file, "123456", { user });
    expect(await agent.warm([file, "/no/such/file"], { drop: true })).toEqual({ files: 1, bytes: 6 });
  });

  it("makes a fork unique and acknowledges with a fresh sample each time", async () => {
    const packet = {
      generation: "12345678-9abc-4def-8123-456789abcdef",
      entropy: new Uint8Array(64).fill(7),
      hostname: "m-1",
      machineId: "0123456789abcdef".repeat(2),
      bootId: "00112233-4455-4677-8899-aabbccddeeff",
      mac: "02:00:00:00:00:01",
      clock: { seconds: 1_700_000_000, nanoseconds: 5 },
    };
    const first = await agent.uniqueness(packet);
    const second = await agent.uniqueness(packet);
    expect(first).toMatchObject({ network: "absent", notified: 0 });
    expect(first.sample).not.toEqual(second.sample);
    const file = (name: string): string => readFileSync(join(transport.runFolder, name), "utf8");
    expect(file("generation")).toBe("123456789abc4def8123456789abcdef\n");
    expect(file("machine-id")).toBe(`${packet.machineId}\n`);
    expect(file("boot_id")).toBe(`${packet.bootId}\n`);
  });

  it.each([
    ["too little entropy", { entropy: new Uint8Array(31) }, "seed"],
    ["a short machine id", { machineId: "123" }, "machine_id"],
    ["a hostname that is empty", { hostname: "" }, "hostname"],
  ])("fails a fork closed, naming the step, for %s", async (_name, wrong, step) => {
    const packet = {
      generation: "12345678-9abc-4def-8123-456789abcdef",
      entropy: new Uint8Array(32),
      hostname: "m",
      machineId: "0".repeat(32),
      bootId: "0".repeat(36),
      ...wrong,
    };
    await expect(agent.uniqueness(packet)).rejects.toMatchObject({
      code: "fork_failed",
      message: expect.stringContaining(`'${step}'`) as string,
    });
  });

  it("signals only processes that registered truthfully", async () => {
    const notify = join(transport.runFolder, "notify.d");
    const script = `trap 'echo told > ${folder}/told; exit' USR1; echo $$ 10 $(cut -d' ' -f22 /proc/$$/stat) > ${notify}/me; while :; do sleep 0.05; done`;
    await run(`sh -c "${script.replaceAll("$", "\\$")}" >/dev/null 2>&1 &`);
    const liar = await run(
      `sleep 98.7 >/dev/null 2>&1 & echo $! 9 77 > ${notify}/liar; echo junk > ${notify}/junk; mkdir ${notify}/folder; echo $!`,
    );
    await agent.wait(300);
    const packet = {
      generation: "0".repeat(32),
      entropy: new Uint8Array(32),
      hostname: "m",
      machineId: "0".repeat(32),
      bootId: "0".repeat(36),
    };
    expect(await agent.uniqueness(packet)).toMatchObject({ notified: 1 });
    await agent.wait(300);
    expect(text(await agent.readFile(join(folder, "told")))).toBe("told\n");
    const sleepers = (await agent.processes()).map((one) => one.argv.join(" "));
    expect(sleepers).toContain("sleep 98.7");
    await run(`kill ${text(liar.stdout)}`);
  });

  it("refuses what it cannot do on this machine instead of pretending", async () => {
    await expect(agent.freeze(true)).rejects.toMatchObject({ code: "guest_error", errno: "ENOSYS" });
    await expect(agent.exec({ argv: ["true"], user }, { image: true })).rejects.toMatchObject({
      errno: "ENODEV",
    });
  });

  it("ends when it is told to switch off", async () => {
    await agent.poweroff();
    expect(await transport.exited).toBe(0);
    await expect(agent.hello()).rejects.toMatchObject({ code: "machine_died" });
  });
});
