/** What an agent that is root in its machine can leave for its grader: programs, settings, libraries, mounts, file systems. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { MachineBudget } from "../../../src/sandbox/budget.js";
import type { Golden, Sandbox } from "../../../src/sandbox/sandbox.js";
import { closePool } from "../../../src/verifiers/index.js";
import { machinesUnavailable, providerForFile, TEST_IMAGE } from "../../support/machine.js";
import { FUSE_SERVER } from "./fuse.js";
import { command, gradeOn, run, sound, told } from "./support.js";

const unavailable = await machinesUnavailable();
const provider = providerForFile();
afterAll(() => closePool());

/** Puts what forges answers wherever programs, their settings and their modules are looked for. */
const FORGE = `set -e
printf '#!/bin/sh\\necho \'"forged"\'\\n' > /root/forger; chmod 755 /root/forger
for name in python3 sqlite3 git curl busctl sh echo cat; do cp /root/forger /usr/local/bin/$name; cp /root/forger /usr/local/sbin/$name; done
version=$(/usr/bin/python3 -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
mkdir -p /root/.local/lib/$version/site-packages /home/agent/.local/lib/$version/site-packages /root/.config/git
forged='print("\\"forged\\"", flush=True); import os; os._exit(0)'
for place in /root/.local/lib/$version/site-packages/usercustomize /usr/lib/python3/dist-packages/sitecustomize /root/json /home/agent/json /json; do
  echo "$forged" > $place.py; done
echo "import os; $forged" > /root/.local/lib/$version/site-packages/forged.pth
echo ".print forged" > /root/.sqliterc
printf '[alias]\\n\\tversion = !echo forged\\n[core]\\n\\tpager = echo forged\\n[init]\\n\\tdefaultBranch = forged\\n' | tee /root/.gitconfig /root/.config/git/config > /etc/gitconfig
printf 'echo forged\\n' | tee /root/.bashrc /root/.profile > /etc/profile
echo /root/forged.so > /etc/ld.so.preload 2>/dev/null || true
cp /root/forger /usr/bin/sqlite3; mount --bind /root/forger /usr/bin/git
mount -t tmpfs none /usr/share`;

describe.skipIf(unavailable !== null)("an agent that is root", () => {
  let golden: Golden;
  let box: Sandbox;
  beforeAll(async () => {
    golden = await provider().imageGolden(TEST_IMAGE);
  });
  beforeEach(async () => {
    box = await golden.fork({ seed: new Uint8Array(32) });
  });
  afterEach(() => box.close());
  afterAll(() => {
    golden.close();
  });

  it("has no say in the programs, libraries, modules and settings of a grader's commands", async () => {
    await run(box, FORGE, "root");
    const python = ["/usr/bin/python3", "-c", 'import json; print(json.dumps("honest"))'];
    const shell = (script: string): string[] => ["/bin/bash", "-c", script];
    const verdict = await gradeOn(box, {
      all: [
        command("python", python, "honest"),
        command("at-home", python, "honest", { query: { cwd: "/root" } }),
        command("in-the-agent's", python, "honest", { query: { cwd: "/home/agent" } }),
        command("by-name", shell("python3 -c 'print(1)'"), 1),
        command("echo", shell('echo "$(cat /proc/1/comm)" > /dev/null; echo 2'), 2),
        command(
          "preload",
          ["/usr/bin/python3", "-c", "import os; print(int(os.path.exists('/etc/ld.so.preload')))"],
          0,
        ),
        command(
          "git",
          shell(`git init -q /tmp/one && git -C /tmp/one symbolic-ref --short HEAD | sed 's/.*/"&"/'`),
          "master",
        ),
        command("sqlite", shell("sqlite3 :memory: 'select 3'"), 3),
        command("home", shell(`printf '"%s"' "$HOME"`), "/nonexistent"),
      ].map((check, index) => ({ ...check, id: `check-${index}` })),
    });
    expect(Object.values(told(verdict))).toEqual(Array.from({ length: 9 }, () => "passed"));
  });

  it("that serves a file system, and stands still with it, costs a check its answer, and no other check theirs", async () => {
    await serve();
    await run(box, "ln -s /srv/held/report /home/agent/report");
    const report = {
      id: "report",
      channel: "fs",
      query: { kind: "text", path: "/home/agent/report" },
      assert: { type: "text", contains: "x" },
      on_error: "fail",
    };
    const graph = {
      weighted: [sound("before"), report, sound("after"), command("command", ["/bin/echo", "1"], 1)],
    };
    const budget = new MachineBudget({ guestMs: 120_000 });
    const verdict = await gradeOn(box, graph, {}, { fork: () => box.fork("grade", { budget }) });
    expect(told(verdict)).toEqual({
      before: "passed",
      report: expect.stringMatching(/^ungraded: timeout/) as string,
      after: "passed",
      command: "passed",
    });
    expect(budget.exceeded).toBeNull();
  });

  it("has a process that the kernel holds, so that it cannot be seen to stand still: that holds up no grader", async () => {
    await serve();
    await run(box, "setsid ls /srv/held/x > /dev/null 2>&1 & sleep 0.5", "root");
    const verdict = await gradeOn(box, { all: [sound("one"), command("two", ["/bin/echo", "2"], 2)] });
    expect(told(verdict)).toEqual({ one: "passed", two: "passed" });
  });

  it("that mounts over its files is graded by what lies there now, or is ungraded, and what was endless is not read", async () => {
    await run(
      box,
      `cd /home/agent; for name in zero endless real folder/inside; do mkdir -p $(dirname $name); echo below > $name; done
      mount --bind /dev/zero zero; mount --bind /proc/1/pagemap endless; echo above > other; mount --bind other real; mount -t tmpfs none folder`,
      "root",
    );
    const read = (name: string): object => ({
      id: name.replace("/", "-"),
      channel: "fs",
      query: { kind: "text", path: `/home/agent/${name}` },
      assert: { type: "text", equals: "above\n" },
    });
    const shown = command("shown", ["/bin/sh", "-c", `printf '"%s"' "$(cat /home/agent/real)"`], "above");
    const verdict = await gradeOn(box, {
      weighted: [...["zero", "endless", "real", "folder/inside"].map(read), shown],
    });
    expect(told(verdict)).toEqual({
      zero: expect.stringMatching(/^ungraded: .*is a char/) as string,
      endless: expect.stringMatching(/^ungraded: .*EINVAL/) as string,
      real: "passed",
      "folder-inside": expect.stringMatching(/^failed: there is nothing/) as string,
      shown: "passed",
    });
  });

  it("cannot listen at the grader's port, and without root cannot even try", async () => {
    const script = `import errno, glob, os
for port in sorted(glob.glob("/dev/vport*")):
  try: print(os.open(port, os.O_RDWR))
  except OSError as error: print(errno.errorcode[error.errno])`;
    await box.writeFile("/tmp/open.py", script);
    expect(await run(box, "python3 /tmp/open.py", "root")).toBe("EBUSY\nEBUSY\n");
    expect(await run(box, "python3 /tmp/open.py")).toBe("EACCES\nEACCES\n");
  });

  const LEFT = {
    "into the root of all cgroups": "echo $$ > /sys/fs/cgroup/cgroup.procs",
    "into a cgroup of its own":
      "mkdir -p /sys/fs/cgroup/own/below; echo $$ > /sys/fs/cgroup/own/below/cgroup.procs",
    "into the grader's": "echo $$ > /sys/fs/cgroup/grader/background/cgroup.procs",
  };
  it.each(Object.entries(LEFT))(
    "that moves a process %s stands still all the same, and cannot answer with what it sees",
    async (_, leave) => {
      await box.writeFile("/home/agent/out.json", "mine");
      const script = `${leave}; cut -d: -f3 /proc/self/cgroup > /root/where
      while :; do for gold in /run/shinken-grader/*/gold; do [ -e "$gold" ] && cat "$gold" > /home/agent/out.json && exit; done; done`;
      await box.writeFile("/root/stray.sh", script, { user: "root" });
      await run(box, "setsid sh /root/stray.sh > /dev/null 2>&1 & sleep 0.5", "root");
      expect(await run(box, "cat /root/where", "root")).not.toContain("workload");
      const compare =
        "import json, sys, time; time.sleep(1); print(json.dumps(open(sys.argv[1]).read() == open('/home/agent/out.json').read()))";
      const argv = ["/usr/bin/python3", "-c", compare, { asset: "gold" }];
      const verdict = await gradeOn(
        box,
        { all: [command("compare", argv, false), sound("after")] },
        { gold: "theirs" },
      );
      expect(told(verdict)).toEqual({ compare: "passed", after: "passed" });
      expect(await run(box, "cat /home/agent/out.json", "root")).toBe("mine");
    },
  );

  it("cannot make the workload's cgroups such that none takes back who left", async () => {
    // What is below a cgroup of threads takes in nobody; a cgroup can become that while nobody is in it.
    const script = `echo $$ > /sys/fs/cgroup/cgroup.procs
      until echo threaded > /sys/fs/cgroup/workload/cgroup.type; do sleep 0.1; done; exec sleep 8888`;
    await box.writeFile("/root/stray.sh", script, { user: "root" });
    await run(box, "setsid sh /root/stray.sh > /dev/null 2>&1 &", "root");
    await box.wait(1000);
    const fork = await box.fork("grade");
    try {
      const { pid } = (await fork.processes()).find(({ argv }) => argv.join(" ") === "sleep 8888") ?? {};
      const tell = `sleep 0.1; cut -d: -f3 /proc/${pid}/cgroup; cut -d" " -f3 /proc/${pid}/stat`;
      const { stdout } = await fork.exec({ argv: ["/bin/sh", "-c", tell], user: "root" });
      expect(Buffer.from(stdout).toString()).toBe("/\nT\n");
    } finally {
      await fork.close();
    }
  });

  it("cannot have a thread of the kernel's end and a process take its place unnoticed", async () => {
    const threads = async (): Promise<string[]> =>
      (await run(box, "cat /proc/2/task/2/children", "root")).trim().split(" ");
    const before = await threads();
    // Five minutes without work end a worker that is one too many.
    await box.wait(400_000);
    const after = new Set(await threads());
    const ended = before.filter((pid) => !after.has(pid));
    expect(ended.length).toBeGreaterThan(0);
    for (const pid of ended) {
      const script = `echo $$ > /sys/fs/cgroup/cgroup.procs; echo $((${pid} - 1)) > /proc/sys/kernel/ns_last_pid
        setsid sleep 8888 > /dev/null 2>&1 & sleep 0.1`;
      await run(box, script, "root");
    }
    const running = `for pid in ${ended.join(" ")}; do echo $pid $(cat /proc/$pid/cgroup) $(tr '\\0' ' ' < /proc/$pid/cmdline); done`;
    expect(await run(box, running, "root")).toBe(ended.map((pid) => `${pid} 0::/ sleep 8888\n`).join(""));
    const fork = await box.fork("grade");
    try {
      const seen = (await fork.processes())
        .filter(({ argv }) => argv[0] === "sleep")
        .map(({ pid }) => `${pid}`);
      expect(seen.sort()).toEqual(ended.sort());
      for (const pid of ended) {
        const { stdout } = await fork.exec({ argv: ["/bin/cat", `/proc/${pid}/cgroup`], user: "root" });
        expect(Buffer.from(stdout).toString()).toBe("0::/workload/background\n");
      }
    } finally {
      await fork.close();
    }
  });

  it("cannot have the kernel start a process that is neither seen nor stands still", async () => {
    const handler = `#!/bin/sh
      while :; do for gold in /run/shinken-grader/*/gold; do [ -e "$gold" ] && cat "$gold" > /home/agent/out.json && exit; done; done`;
    await box.writeFile("/root/handler.sh", handler, { user: "root", mode: 0o755 });
    await box.writeFile("/home/agent/out.json", "mine");
    await run(box, "echo '|/root/handler.sh' > /proc/sys/kernel/core_pattern", "root");
    await run(box, "(sh -c 'kill -SEGV $$') > /dev/null 2>&1 & sleep 0.5");
    const compare =
      "import json, sys, time; time.sleep(1); print(json.dumps(open(sys.argv[1]).read() == open('/home/agent/out.json').read()))";
    const seen = {
      id: "seen",
      channel: "process",
      query: { kind: "count", argv_contains: ["/root/handler.sh"] },
      assert: { type: "number", equals: 1 },
    };
    const argv = ["/usr/bin/python3", "-c", compare, { asset: "gold" }];
    const verdict = await gradeOn(box, { all: [command("compare", argv, false), seen] }, { gold: "theirs" });
    expect(told(verdict)).toEqual({ compare: "passed", seen: "passed" });
  });

  it("cannot hide a process by mounting over /proc", async () => {
    await run(box, "sleep 9999 > /dev/null 2>&1 &");
    await run(box, "mkdir /srv/empty && mount --bind /srv/empty /proc", "root");
    const hidden = {
      id: "hidden",
      channel: "process",
      query: { kind: "count", argv: ["sleep", "9999"] },
      assert: { type: "number", equals: 1 },
    };
    expect(told(await gradeOn(box, { all: [hidden] }))).toEqual({ hidden: "passed" });
  });

  /** Mounts a file system at /srv/held whose server answers nobody. */
  async function serve(): Promise<void> {
    await box.writeFile("/root/fuse.py", FUSE_SERVER, { user: "root" });
    const script =
      "mkdir /srv/held; setsid python3 /root/fuse.py /srv/held > /root/log 2>&1 & sleep 1; cat /root/log";
    expect(await run(box, script, "root")).toBe("mounted\n");
  }
});
