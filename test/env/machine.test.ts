import { afterAll, describe, expect, it } from "vitest";
import { checkEnv } from "../../src/env/conformance/index.js";
import { TaskEnvironmentFactory } from "../../src/env/factory.js";
import { makeTask } from "../../src/env/task/index.js";
import type { Sandbox } from "../../src/sandbox/sandbox.js";
import { closePool } from "../../src/verifiers/index.js";
import { machinesUnavailable, providerForFile, TEST_IMAGE } from "../support/machine.js";
import { act } from "./support.js";
import { document, sh } from "./session-support.js";

const unavailable = await machinesUnavailable();
const provider = providerForFile();
afterAll(() => closePool());

async function onMachine<T>(work: (box: Sandbox) => Promise<T>): Promise<T> {
  const golden = await provider().imageGolden(TEST_IMAGE);
  const box = await golden.fork({ seed: new Uint8Array(32) });
  try {
    return await work(box);
  } finally {
    await box.close();
    golden.close();
  }
}

describe.skipIf(unavailable !== null)("the actions on a real machine", () => {
  it("act as the agent's user, who may not do everything", () =>
    onMachine(async (box) => {
      expect(await act(box, { type: "exec", command: "id -un; pwd; echo $HOME" })).toMatchObject({
        text: "agent\n/home/agent\n/home/agent",
      });
      const write = await act(box, { type: "write_file", path: "/etc/passwd", content: "" });
      expect(write.error).toMatchObject({
        code: "guest_error",
        message: expect.stringMatching(/EACCES|EPERM/) as string,
      });
      const read = await act(box, { type: "read_file", path: "/etc/shadow" });
      expect(read.error?.code).toBe("guest_error");
    }));

  it("write, edit and read files with owner and permissions", () =>
    onMachine(async (box) => {
      await act(box, {
        type: "write_file",
        path: "a/b/run.sh",
        content: "#!/bin/sh\necho one\n",
        mode: "755",
      });
      await act(box, { type: "edit_file", path: "a/b/run.sh", old_text: "one", new_text: "two" });
      expect(await act(box, { type: "exec", argv: ["a/b/run.sh"] })).toMatchObject({ stdout: "two\n" });
      expect(await box.stat("/home/agent/a/b")).toMatchObject({ uid: 1000 });
      expect(await act(box, { type: "read_file", path: "a/b/run.sh", lines: [2, 2] })).toMatchObject({
        text: "echo two\n",
      });
    }));

  it("kill a command at its limit of machine time, not of host time", () =>
    onMachine(async (box) => {
      const result = await act(box, { type: "exec", command: "echo begun; sleep 5000", timeout_s: 600 });
      expect(result).toMatchObject({ timed_out: true, stdout: "begun\n" });
      expect(box.stats().guestMs).toBeGreaterThan(600_000);
    }));

  it("keep a shell: folder, variables, a hang, background jobs, a branch, a restart", () =>
    onMachine(async (box) => {
      const shell = async (command: string, more = {}) => act(box, { type: "shell", command, ...more });
      await shell("mkdir work && cd work; list=(a 'b c'); greet() { echo \"hi $1\"; }");
      expect((await shell('pwd; echo "${list[1]}"; greet you')).text).toBe("/home/agent/work\nb c\nhi you");
      const hung = await shell("echo waiting; sleep 10000", { timeout_s: 5 });
      expect(hung).toMatchObject({ timed_out: true });
      expect(hung.text).toMatch(/^waiting\n/);
      const started = await shell("(sleep 20; echo finished; touch flag) & echo started");
      expect(started).toMatchObject({ timed_out: false, exit_code: 0 });
      expect(started.text).toBe("started");
      await act(box, { type: "wait", seconds: 30 });
      expect((await shell("ls")).text).toBe("finished\nflag");
      const branch = await box.fork("branch", { seed: new Uint8Array(32) });
      expect((await act(branch, { type: "shell", command: "pwd; greet twin" })).text).toBe(
        "/home/agent/work\nhi twin",
      );
      await branch.close();
      await act(box, { type: "shell", restart: true });
      expect((await shell("pwd; echo [${list[1]}]")).text).toBe("/home/agent\n[]");
    }));

  it("bound a flood of output on its way", () =>
    onMachine(async (box) => {
      const flood = await act(box, { type: "shell", command: "head -c 3000000 /dev/zero | tr '\\0' x" });
      expect(flood.truncated).toBe(true);
      expect(flood.text.length).toBeLessThan(17_000);
    }));
});

describe.skipIf(unavailable !== null)("a session on a real machine", () => {
  it("keeps the contract of an environment", async () => {
    const factory = new TaskEnvironmentFactory({ provider: provider(), tasks: [makeTask(document)] });
    const steps = [
      [sh("cat /proc/sys/kernel/random/uuid; date +%s; ls -A; echo $$")],
      [{ type: "shell", command: "head -c 8 /dev/urandom | od -x; cat /proc/uptime" }],
    ];
    const report = await checkEnv(() => factory.create("two-files"), { steps });
    expect(report.problems).toEqual([]);
    factory.close();
    expect(provider().openMachines()).toBe(0);
  });

  it("that is cancelled kills a command that would never end, and is graded and stepped on", async () => {
    const factory = new TaskEnvironmentFactory({ provider: provider(), tasks: [makeTask(document)] });
    const session = await factory.create("two-files");
    await session.reset({ seed: 1, params: { times: 1 } });
    const running = session.step([sh("echo 1 > one; while :; do :; done")]);
    const rejected = expect(running).rejects.toMatchObject({ code: "cancelled" });
    setTimeout(() => session.cancel(), 300);
    await rejected;
    const verdict = await session.evaluate();
    expect(verdict).toMatchObject({ status: "graded", score: 0.75 });
    const branch = await session.fork();
    for (const one of [session, branch])
      expect((await one.step([sh("cat one; pgrep -c -x sh")])).observation.results[0]?.text).toBe("1\n1");
    for (const one of [branch, session]) await one.close();
    factory.close();
  });

  it("draws other random numbers from another seed, and gives each branch its own", async () => {
    const factory = new TaskEnvironmentFactory({ provider: provider(), tasks: [makeTask(document)] });
    const session = await factory.create("two-files");
    const random = async () =>
      (await session.step([sh("cat /proc/sys/kernel/random/uuid")])).observation.results[0]?.text;
    await session.reset({ seed: 1, params: { times: 1 } });
    const first = await random();
    await session.reset({ seed: 2, params: { times: 1 } });
    expect(await random()).not.toBe(first);
    const [a, b] = [await session.fork(), await session.fork()];
    const of = async (one: typeof a) =>
      (await one.step([sh("cat /proc/sys/kernel/random/uuid")])).observation.results[0]?.text;
    expect(await of(a)).not.toBe(await of(b));
    for (const one of [a, b, session]) await one.close();
    factory.close();
  });
});
