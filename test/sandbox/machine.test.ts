import { beforeAll, describe, expect, it } from "vitest";
import { isInfrastructure, ShinkenError } from "../../src/errors/index.js";
import type { Golden, Sandbox } from "../../src/sandbox/sandbox.js";
import { machinesUnavailable, providerForFile, TEST_IMAGE } from "../support/machine.js";

const unavailable = await machinesUnavailable();
const provider = providerForFile();
let golden: Golden;

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

/** Runs `work` on a fork that is closed afterwards. */
async function withFork<T>(work: (sandbox: Sandbox) => Promise<T>, seed?: Uint8Array): Promise<T> {
  const sandbox = await golden.fork({ seed });
  try {
    return await work(sandbox);
  } finally {
    await sandbox.close();
  }
}

const run = async (sandbox: Sandbox, script: string, user = "agent"): Promise<string> =>
  text((await sandbox.exec({ argv: ["sh", "-c", script], user })).stdout).trim();

describe.skipIf(unavailable !== null)("a real machine", () => {
  beforeAll(async () => {
    golden = await provider().imageGolden(TEST_IMAGE);
    return () => {
      golden.close();
    };
  });

  describe("runs commands", () => {
    it("with output, exit code and standard input", () =>
      withFork(async (sandbox) => {
        const script = "cat; echo wrong >&2; exit 7";
        const result = await sandbox.exec({ argv: ["sh", "-c", script], stdin: "given\n" });
        expect(result).toMatchObject({ exitCode: 7, signal: null, timedOut: false });
        expect([text(result.stdout), text(result.stderr)]).toEqual(["given\n", "wrong\n"]);
      }));
    it("as the user, in the folder and with the variables asked for", () =>
      withFork(async (sandbox) => {
        const script = 'id -un; pwd; echo "$COLOUR"';
        const result = await sandbox.exec({
          argv: ["sh", "-c", script],
          cwd: "/tmp",
          env: { COLOUR: "blue" },
        });
        expect(text(result.stdout)).toBe("agent\n/tmp\nblue\n");
        expect(await run(sandbox, "id -un", "root")).toBe("root");
      }));
    it("with more standard input than fits at once", () =>
      withFork(async (sandbox) => {
        const result = await sandbox.exec({ argv: ["wc", "-c"], stdin: new Uint8Array(300_000) });
        expect(text(result.stdout).trim()).toBe("300000");
      }));
    it("whose output beyond the limit is counted and dropped", () =>
      withFork(async (sandbox) => {
        const argv = ["sh", "-c", "head -c 100000 /dev/zero"];
        const result = await sandbox.exec({ argv, maxOutputBytes: 1000 });
        expect(result.stdout.length).toBe(1000);
        expect(result.stdoutDropped).toBe(99_000);
      }));
    it("and kills them with all they started at their deadline in guest time", () =>
      withFork(async (sandbox) => {
        const result = await sandbox.exec({ argv: ["sh", "-c", "sleep 1000 & sleep 1000"], timeoutMs: 2000 });
        expect(result.timedOut).toBe(true);
        expect(await run(sandbox, "pgrep -c sleep || true")).toBe("0");
      }));
    it("that are not there as a guest error", () =>
      withFork(async (sandbox) => {
        await expect(sandbox.exec({ argv: ["no-such-program"] })).rejects.toMatchObject({
          code: "guest_error",
        });
      }));
    it("in the order in which they were asked for", () =>
      withFork(async (sandbox) => {
        const numbers = [1, 2, 3, 4, 5];
        await Promise.all(
          numbers.map((n) => sandbox.exec({ argv: ["sh", "-c", `echo ${n} >> /tmp/order`] })),
        );
        expect(text(await sandbox.readFile("/tmp/order"))).toBe("1\n2\n3\n4\n5\n");
      }));
    it("and lets an idle minute pass at once", () =>
      withFork(async (sandbox) => {
        const before = sandbox.stats().guestMs;
        await sandbox.exec({ argv: ["sleep", "60"] });
        expect(sandbox.stats().guestMs - before).toBeGreaterThanOrEqual(60_000);
      }));
  });

  describe("streams", () => {
    it("output while the command runs, and takes input meanwhile", () =>
      withFork(async (sandbox) => {
        const stream = sandbox.stream({ argv: ["sh", "-c", "echo first; read line; echo got $line"] });
        let seen = "";
        stream.onOutput((channel, chunk) => {
          if (channel === "stdout") seen += text(chunk);
          if (seen === "first\n") stream.write(Buffer.from("word\n"));
        });
        const result = await stream.done;
        expect(seen).toBe("first\ngot word\n");
        expect(result.exitCode).toBe(0);
      }));
    it("much input, before its turn and after, and asks the writer to wait for the command", () =>
      withFork(async (sandbox) => {
        const piece = new Uint8Array(100_000);
        const before = sandbox.wait(10);
        const stream = sandbox.stream({ argv: ["wc", "-c"] });
        let [written, seen] = [0, ""];
        const fill = () => {
          for (let more = true; more; written += piece.length) more = stream.write(piece);
        };
        stream.onDrain(() => {
          if (written < 4_000_000) fill();
          else stream.end();
        });
        stream.onOutput((_channel, chunk) => {
          seen += text(chunk);
        });
        fill();
        expect(written).toBeLessThan(2_000_000);
        await before;
        await stream.done;
        expect(Number(seen)).toBe(written);
      }));
    it("a command whose input is over, which then sleeps an hour at once, and prints more than is held of it", () =>
      withFork(async (sandbox) => {
        const before = sandbox.stats().guestMs;
        const stream = sandbox.stream({ argv: ["sh", "-c", "cat; sleep 3600; head -c 2000000 /dev/zero"] });
        let bytes = 0;
        stream.onOutput((_channel, chunk) => {
          if (bytes === 0) stream.end();
          bytes += chunk.length;
        });
        stream.write(Buffer.from("word\n"));
        expect((await stream.done).exitCode).toBe(0);
        expect(bytes).toBe(2_000_005);
        expect(sandbox.stats().guestMs - before).toBeGreaterThanOrEqual(3_600_000);
      }));
    it("a terminal of the size asked for", () =>
      withFork(async (sandbox) => {
        const stream = sandbox.stream({ argv: ["stty", "size"] }, { terminal: { columns: 91, rows: 17 } });
        let seen = "";
        stream.onOutput((_channel, chunk) => {
          seen += text(chunk);
        });
        await stream.done;
        expect(seen.trim()).toBe("17 91");
      }));
    it("much output, all of it", () =>
      withFork(async (sandbox) => {
        const stream = sandbox.stream({ argv: ["head", "-c", "2000000", "/dev/zero"] });
        let bytes = 0;
        stream.onOutput((_channel, chunk) => {
          bytes += chunk.length;
        });
        await stream.done;
        expect(bytes).toBe(2_000_000);
      }));
    it("a command that is killed", () =>
      withFork(async (sandbox) => {
        const stream = sandbox.stream({ argv: ["sh", "-c", "echo up; sleep 1000"] });
        stream.onOutput(() => {
          stream.kill();
        });
        expect((await stream.done).signal).toBe(9);
      }));
  });

  describe("keeps files", () => {
    it("that are written and read back, byte for byte", () =>
      withFork(async (sandbox) => {
        const bytes = Uint8Array.from({ length: 200_000 }, (_, i) => (i * 7) & 255);
        await sandbox.writeFile("/tmp/a/b/data", bytes, { mode: 0o640 });
        expect(Buffer.compare(await sandbox.readFile("/tmp/a/b/data"), bytes)).toBe(0);
        expect(await sandbox.stat("/tmp/a/b/data")).toMatchObject({
          type: "file",
          size: 200_000,
          mode: 0o640,
        });
        expect(await sandbox.hash("/tmp/a/b/data")).toBe(
          (await run(sandbox, "sha256sum /tmp/a/b/data")).slice(0, 64),
        );
        expect((await sandbox.list("/tmp/a")).map((entry) => entry.type)).toEqual(["directory"]);
      }));
    it("of many megabytes", () =>
      withFork(async (sandbox) => {
        const bytes = new Uint8Array(40 * 1024 * 1024).fill(0x61);
        await sandbox.writeFile("/tmp/big", bytes);
        expect((await sandbox.stat("/tmp/big")).size).toBe(bytes.length);
        expect(Buffer.compare(await sandbox.readFile("/tmp/big"), bytes)).toBe(0);
        expect((await sandbox.readFile("/tmp/big", { offset: bytes.length - 3 })).length).toBe(3);
      }));
    it("and says which are not there", () =>
      withFork(async (sandbox) => {
        expect(await sandbox.statIfExists("/tmp/none")).toBeNull();
        await expect(sandbox.stat("/tmp/none")).rejects.toThrow(/ENOENT/);
        await expect(sandbox.readFile("/tmp/none")).rejects.toThrow(/ENOENT/);
      }));
  });

  it("has a dialogue that keeps its directory and variables", () =>
    withFork(async (sandbox) => {
      const shell = await sandbox.dialogue({ argv: ["bash"] });
      await shell.ask("cd /tmp; X=5; echo @done $?\n", { marker: "@done" });
      const reply = await shell.ask("pwd; echo $X; echo @done $?\n", { marker: "@done" });
      expect(text(reply.output)).toBe("/tmp\n5\n");
      expect(reply).toMatchObject({ reason: "matched", line: " 0" });
      await shell.close();
    }));

  describe("dies", () => {
    it("when its agent is killed, which is an infrastructure failure and never a result", () =>
      withFork(async (sandbox) => {
        const script = "kill -9 $(pgrep -x shinken-agent || pgrep -f agent || echo 1)";
        const failure: unknown = await sandbox
          .exec({
            argv: [
              "sh",
              "-c",
              `for p in /proc/[0-9]*; do case "$(cat $p/oom_score_adj 2>/dev/null)" in -1000) kill -9 \${p#/proc/};; esac; done; ${script}; sleep 5`,
            ],
            user: "root",
          })
          .then(
            () => null,
            (error: unknown) => error,
          );
        expect(failure).toBeInstanceOf(ShinkenError);
        expect((failure as ShinkenError).code).toBe("machine_died");
        expect(isInfrastructure(failure)).toBe(true);
        await expect(sandbox.exec({ argv: ["true"] })).rejects.toMatchObject({ code: "machine_died" });
      }));
    it("when it is closed, whatever it was doing", async () => {
      const sandbox = await golden.fork();
      const running = sandbox.exec({ argv: ["sh", "-c", "while :; do :; done"] });
      const waiting = sandbox.exec({ argv: ["true"] });
      const outcomes = Promise.allSettled([running, waiting]);
      setTimeout(() => void sandbox.close(), 30);
      const codes = (await outcomes).map(
        (one) => one.status === "rejected" && (one.reason as ShinkenError).code,
      );
      expect(codes).toEqual(["machine_closed", "machine_closed"]);
      await sandbox.close();
      await expect(sandbox.exec({ argv: ["true"] })).rejects.toMatchObject({ code: "machine_closed" });
    });
  });
});
