import { beforeAll, describe, expect, it } from "vitest";
import { MicrovmSandbox } from "../../src/sandbox/microvm/sandbox.js";
import type { Golden } from "../../src/sandbox/sandbox.js";
import { machinesUnavailable, microvm, providerForFile, TEST_IMAGE } from "../support/machine.js";

const unavailable = await machinesUnavailable();
const provider = providerForFile();
let golden: Golden;

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

/** Runs `work` on a fork that is closed afterwards. */
async function withFork<T>(work: (sandbox: MicrovmSandbox) => Promise<T>): Promise<T> {
  const sandbox = microvm(await golden.fork());
  try {
    return await work(sandbox);
  } finally {
    await sandbox.close();
  }
}

async function run(sandbox: MicrovmSandbox, script: string, user = "agent"): Promise<string> {
  const result = await sandbox.exec({ argv: ["sh", "-c", script], user });
  return (text(result.stdout) + text(result.stderr)).trim();
}

describe.skipIf(unavailable !== null)("the agent inside a machine", () => {
  beforeAll(async () => {
    golden = await provider().imageGolden(TEST_IMAGE);
    return () => {
      golden.close();
    };
  });

  describe("gives a command", () => {
    it("its user's identity and nothing of the agent's own", () =>
      withFork(async (sandbox) => {
        const script =
          "id -u; id -gn; pwd; cat /proc/self/oom_score_adj; chrt -p $$ | head -1; ls /proc/self/fd | wc -l; umask";
        expect((await run(sandbox, script)).split("\n")).toEqual([
          "1000",
          "agent",
          "/home/agent",
          "0",
          expect.stringContaining("SCHED_OTHER"),
          "4",
          "0022",
        ]);
      }));

    it("a cgroup in which its deadline finds even what left its process group", () =>
      withFork(async (sandbox) => {
        const script = "setsid sh -c 'setsid sleep 9876 & sleep 9876' & sleep 9876";
        const result = await sandbox.exec({ argv: ["sh", "-c", script], timeoutMs: 500 });
        expect(result).toMatchObject({ timedOut: true, signal: 9 });
        expect(await run(sandbox, "pgrep -c -f '^sleep 9876' || true")).toBe("0");
      }));

    it("a place in the background for what it leaves, which no later deadline touches", () =>
      withFork(async (sandbox) => {
        await run(sandbox, "sleep 9875 & echo started");
        await sandbox.exec({ argv: ["sleep", "100"], timeoutMs: 200 });
        expect(
          await run(sandbox, "pgrep -c -f '^sleep 9875'; cat /proc/$(pgrep -f '^sleep 9875')/cgroup"),
        ).toBe("1\n0::/workload/background");
      }));

    it("and says so when the out-of-memory killer hit it", () =>
      withFork(async (sandbox) => {
        await run(sandbox, "echo 24M > /sys/fs/cgroup/workload/memory.max", "root");
        const result = await sandbox.exec({ argv: ["sh", "-c", "tail /dev/zero; echo survived"] });
        expect(result).toMatchObject({ oomKilled: true, exitCode: 0 });
        expect(text(result.stdout)).toBe("survived\n");
        expect(await sandbox.exec({ argv: ["true"] })).toMatchObject({ oomKilled: false });
      }));
  });

  describe("touches files with a user's rights", () => {
    it("so that a user's reader cannot see what is not theirs", () =>
      withFork(async (sandbox) => {
        await expect(sandbox.readFile("/etc/shadow", { user: "agent" })).rejects.toThrow(/EACCES/);
        expect((await sandbox.readFile("/etc/shadow")).length).toBeGreaterThan(0);
      }));

    it("so that what is written belongs to the user, folders included", () =>
      withFork(async (sandbox) => {
        await sandbox.writeFile("/home/agent/a/b/file", "x");
        expect(
          await run(sandbox, "stat -c '%U:%G %a' /home/agent/a/b/file /home/agent/a/b /home/agent/a"),
        ).toBe("agent:agent 644\nagent:agent 755\nagent:agent 755");
        await expect(sandbox.writeFile("/etc/passwd", "x")).rejects.toThrow(/EACCES/);
        await expect(sandbox.writeFile("/nowhere/file", "x")).rejects.toThrow(/EACCES/);
        await sandbox.writeFile("/nowhere/file", "x", { user: "root" });
      }));

    it("and takes no harm from pipes, devices and links that lead nowhere", () =>
      withFork(async (sandbox) => {
        await run(
          sandbox,
          "cd /home/agent; mkfifo pipe; ln -s /dev/zero zero; ln -s loop loop; ln -s /etc/hostname good",
        );
        await expect(sandbox.readFile("/home/agent/pipe")).rejects.toThrow(/ENXIO/);
        await expect(sandbox.readFile("/home/agent/zero")).rejects.toThrow(/ENXIO/);
        await expect(sandbox.readFile("/home/agent/loop")).rejects.toThrow(/ELOOP/);
        await expect(sandbox.writeFile("/home/agent/pipe", "x")).rejects.toThrow(/ENXIO/);
        expect(await sandbox.stat("/home/agent/pipe")).toMatchObject({ type: "fifo" });
        expect((await sandbox.readFile("/proc/version")).length).toBeGreaterThan(10);
      }));
  });

  describe("makes a fork its own", () => {
    const identity =
      "hostname; cat /etc/machine-id /proc/sys/kernel/random/boot_id /run/shinken/generation; head -c 16 /dev/urandom | od -An -tx1";

    it("in everything by which siblings could be told apart", async () => {
      const seen = await Promise.all([0, 1].map(() => withFork((sandbox) => run(sandbox, identity))));
      const [first, second] = seen.map((lines) => lines.split("\n"));
      expect(first).toHaveLength(5);
      for (const [index, line] of (first ?? []).entries()) expect(line).not.toBe(second?.[index]);
    });

    it("with the wall clock of the host", () =>
      withFork(async (sandbox) => {
        const seconds = Number(await run(sandbox, "date +%s"));
        expect(Math.abs(seconds - Date.now() / 1000)).toBeLessThan(120);
      }));

    it("and signals the programs that registered, and no others", () =>
      withFork(async (sandbox) => {
        const script = [
          "trap 'echo forked >> /tmp/told; exit' USR1",
          "echo $$ 10 $(cut -d' ' -f22 /proc/$$/stat) > /run/shinken/notify.d/mine",
          "while :; do sleep 1; done",
        ].join("; ");
        await sandbox.writeFile("/tmp/program", script);
        await run(sandbox, "sh /tmp/program > /dev/null 2>&1 & sleep 9874 > /dev/null 2>&1 & sleep 1");
        await run(sandbox, "echo $(pgrep -f '^sleep 9874') 9 1 > /run/shinken/notify.d/stale");
        const branch = microvm(await sandbox.fork("branch"));
        await branch.wait(2000);
        expect(await run(branch, "cat /tmp/told; pgrep -c -f '^sleep 9874'")).toBe("forked\n1");
        expect(await run(sandbox, "cat /tmp/told 2>/dev/null; pgrep -c -f '^sleep 9874'")).toBe("1");
        await branch.close();
      }));
  });

  describe("in a grade fork", () => {
    it("keeps the workload still and still runs the grader's commands", () =>
      withFork(async (sandbox) => {
        await run(sandbox, "while :; do echo x >> /tmp/ticks; sleep 0.1; done > /dev/null 2>&1 & sleep 1");
        const grade = microvm(await sandbox.fork("grade"));
        const before = (await grade.stat("/tmp/ticks")).size;
        expect(before).toBeGreaterThan(0);
        await grade.wait(5000);
        expect((await grade.stat("/tmp/ticks")).size).toBe(before);
        expect(await run(grade, "wc -c < /tmp/ticks", "root")).toBe(String(before));
        await grade.close();
      }));

    it("runs programs from the image, whatever root has put in their place", () =>
      withFork(async (sandbox) => {
        const script = [
          "printf '#!/bin/sh\\necho forged\\n' > /usr/bin/sqlite3",
          "echo /tmp/evil.so > /etc/ld.so.preload",
          "echo 'alias id=false' > /etc/profile",
          "mkdir -p /root/bin /srv/data; echo real > /srv/data/file; mv /srv /srv.old; mkdir /srv; echo moved > /srv/file",
        ].join("; ");
        await run(sandbox, script, "root");
        const grade = microvm(await sandbox.fork("grade"));
        expect(await run(grade, "sqlite3 :memory: 'select 6*7'", "root")).toBe("42");
        expect(
          await run(
            grade,
            "cat /srv/file /mnt/srv.old/data/file; test -e /etc/ld.so.preload || echo clean",
            "root",
          ),
        ).toBe("moved\nreal\nclean");
        expect(await run(grade, "touch /usr/bin/x 2>&1 | grep -c 'Read-only'", "root")).toBe("1");
        await grade.close();
      }));
  });
});
