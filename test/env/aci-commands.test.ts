import { afterAll, beforeAll, expect, it } from "vitest";
import type { Sandbox } from "../../src/sandbox/sandbox.js";
import { HostProvider } from "../support/host-sandbox/index.js";
import { act, describeOnHost } from "./support.js";

let provider: HostProvider;
let box: Sandbox;
beforeAll(async () => {
  provider = new HostProvider();
  box = await (await provider.imageGolden("shell")).fork();
});
afterAll(() => provider.close());

describeOnHost("exec", () => {
  const exec = (fields: Record<string, unknown>) => act(box, { type: "exec", ...fields });

  it("runs a program as it is, without a shell between", async () => {
    expect(await exec({ argv: ["echo", "$HOME", "a  b"] })).toMatchObject({
      text: "$HOME a  b",
      exit_code: 0,
      stdout: "$HOME a  b\n",
    });
  });

  it("gives a line to sh, with folder, variables and standard input", async () => {
    const result = await exec({ command: "pwd; echo $X; cat", cwd: "/tmp", env: { X: "7" }, stdin: "in" });
    expect(result.text).toBe("/tmp\n7\nin");
  });

  it("shows what went wrong: standard error and exit code", async () => {
    const result = await exec({ command: "echo out; echo err >&2; exit 3" });
    expect(result).toMatchObject({
      text: "out\n[stderr]\nerr\n[exit code 3]",
      exit_code: 3,
      stderr: "err\n",
    });
  });

  it("kills a command at its time limit and says so", async () => {
    const result = await exec({ command: "echo begun; sleep 1000", timeout_s: 0.3 });
    expect(result).toMatchObject({ timed_out: true, exit_code: null });
    expect(result.text).toBe("begun\n[the time limit was reached; the command was killed]");
  });

  it("never gets more time than the episode has left", async () => {
    const [action, change] = [{ type: "exec", command: "sleep 1000" }, { remainingMs: 200 }];
    expect(await act(box, action, change)).toMatchObject({ timed_out: true });
  });

  it("bounds a flood of output", async () => {
    const result = await exec({ command: "yes 0123456789 | head -c 6000000" });
    expect(result.truncated).toBe(true);
    expect(result.text.length).toBeLessThan(17_000);
    expect(result.text).toMatch(/further bytes were not kept/);
  });

  it("reports a program that does not exist", async () => {
    expect((await exec({ argv: ["no-such-program"] })).error?.code).toBe("guest_error");
  });
});

describeOnHost("shell", () => {
  const shell = async (command: string, more: Record<string, unknown> = {}) =>
    act(box, { type: "shell", command, ...more });
  const text = async (command: string) => (await shell(command)).text;

  beforeAll(() => act(box, { type: "shell", restart: true }));

  it("keeps folder, variables, exports, arrays, functions, aliases and options", async () => {
    await shell("mkdir -p 'my dir' && cd 'my dir'; a='two words'; export B=\"it's\nthree\"; list=(x 'y z')");
    await shell(
      "greet() { echo \"hello $1\"; }; alias ll='echo listed'; set -o pipefail; shopt -s nullglob; umask 077",
    );
    expect(await text('pwd; echo "$a"; sh -c \'echo "$B"\'; echo "${list[1]}"; greet you; ll')).toBe(
      "/home/agent/my dir\ntwo words\nit's\nthree\ny z\nhello you\nlisted",
    );
    expect(await text("echo no*such; umask; set -o | grep pipefail")).toBe("\n0077\npipefail       \ton");
  });

  it("knows the exit code of the command before", async () => {
    expect(await shell("(exit 7)")).toMatchObject({ exit_code: 7, text: "[exit code 7]" });
    expect(await text("echo $?")).toBe("7");
  });

  it("goes on after exit, with the same folder and variables", async () => {
    await shell("cd /tmp; kept=yes; exit 4");
    expect(await text("pwd; echo $kept")).toBe("/tmp\nyes");
  });

  it("lives on after a hang: the command is killed, its output so far is shown, what was kept before stays", async () => {
    await shell("cd /tmp; before=1");
    const hung = await shell("before=2; echo waiting; cat < /dev/zero > /dev/null", { timeout_s: 0.5 });
    expect(hung).toMatchObject({ timed_out: true, exit_code: null });
    expect(hung.text).toMatch(/^waiting\n\[the time limit was reached/);
    expect(await text("echo $before; pwd")).toBe("1\n/tmp");
  });

  it("does not wait for a background job, lets it go on, and shows later what it wrote", async () => {
    const started = await shell("(sleep 0.2; echo finished; touch /tmp/flag) & echo started");
    expect(started).toMatchObject({ exit_code: 0 });
    expect(started.text).toContain("started");
    await act(box, { type: "wait", seconds: 30 });
    expect(await text("ls /tmp/flag")).toBe("finished\n/tmp/flag");
  });

  it("survives the options that people set", async () => {
    await shell("set -euo pipefail");
    expect(await shell("false; echo not reached")).toMatchObject({ exit_code: 1, text: "[exit code 1]" });
    expect((await shell("echo $undefined_name")).exit_code).toBe(1);
    expect(await text("echo $-")).toMatch(/^[a-zA-Z]*e[a-zA-Z]*u/);
    await shell("set +eu; set -fC; IFS=:");
    expect(await text('echo *; v=a:b; echo $v; echo "$IFS"')).toBe("*\na b\n:");
    await shell("set +fC; IFS=$' \\t\\n'");
  });

  it("reports a syntax error and goes on", async () => {
    const wrong = await shell("if then");
    expect(wrong.exit_code).not.toBe(0);
    expect(wrong.text).toContain("syntax error");
    expect(await text("echo fine")).toBe("fine");
  });

  it("says so when its folder has gone", async () => {
    await shell("mkdir /tmp/gone && cd /tmp/gone && rmdir /tmp/gone");
    expect(await text("pwd")).toBe("The folder /tmp/gone is gone; going on in /home/agent.\n/home/agent");
  });

  it("restarts into a clean state", async () => {
    await shell("cd /tmp; left=over");
    expect((await act(box, { type: "shell", restart: true })).text).toBe("The shell was restarted.");
    expect(await text("pwd; echo [$left]")).toBe("/home/agent\n[]");
  });

  it("keeps both ends of a flood", async () => {
    const flood = await shell("seq 1 300000", { max_chars: 1_000 });
    expect(flood.truncated).toBe(true);
    expect(flood.text.startsWith("1\n2\n")).toBe(true);
    expect(flood.text.endsWith("299999\n300000")).toBe(true);
    expect(flood.text.length).toBeLessThan(1_200);
  });

  it("has no standard input to hang on", async () => {
    expect(await shell('read -r line; echo "got [$line]"')).toMatchObject({
      text: "got []",
      timed_out: false,
    });
  });
});

describeOnHost("a fresh branch of a machine", () => {
  it("carries the shell with it", async () => {
    await act(box, { type: "shell", command: "cd /tmp; twin=both" });
    const branch = await box.fork("branch");
    await act(branch, { type: "shell", command: "twin=branch" });
    expect((await act(branch, { type: "shell", command: "pwd; echo $twin" })).text).toBe("/tmp\nbranch");
    expect((await act(box, { type: "shell", command: "echo $twin" })).text).toBe("both");
  });
});
