import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { imageNames } from "../../src/images/index.js";
import { cli, startCli } from "../support/cli.js";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "shinken-cli-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** A flat binary of RV64 instructions. */
async function flat(name: string, ...words: number[]): Promise<string> {
  const bytes = Buffer.alloc(words.length * 4);
  words.forEach((word, index) => bytes.writeUInt32LE(word, index * 4));
  const path = join(folder, name);
  await writeFile(path, bytes);
  return path;
}

/** SBI system reset for a reason; type 0 is a shutdown, 1 a cold reboot. */
const reset = (reason: number, type = 0) => [
  0x535258b7, // lui a7, 0x53525
  0x3548889b, // addiw a7, a7, 0x354
  0x00000813, // li a6, 0
  0x00000513 | (type << 20), // li a0, type
  0x00000593 | (reason << 20), // li a1, reason
  0x00000073, // ecall
];
const forever = 0x0000006f; // j .

describe("machine run", () => {
  it("exits 0 when the program shuts the machine down", async () => {
    expect((await cli(["machine", "run", await flat("shutdown", ...reset(0))])).code).toBe(0);
  });

  it("exits 0 when the program resets the machine without a reason", async () => {
    expect((await cli(["machine", "run", await flat("restart", ...reset(0, 1))])).code).toBe(0);
    expect((await cli(["machine", "run", await flat("restart", ...reset(1, 1))])).code).toBe(1);
  });

  it("exits 1 for a system failure", async () => {
    expect((await cli(["machine", "run", await flat("failure", ...reset(1))])).code).toBe(1);
  });

  it("exits 2 at the instruction limit", async () => {
    const program = await flat("forever", forever);
    expect((await cli(["machine", "run", program, "--max-instructions", "1000000"])).code).toBe(2);
  });
});

describe("machine run of what is no program", () => {
  it("says in words what is wrong with it, and with which file", async () => {
    const path = join(folder, "short.elf");
    await writeFile(path, "\x7fELF");
    const { code, stderr } = await cli(["machine", "run", path]);
    expect({ code, stderr }).toEqual({ code: 3, stderr: `shinken: ${path}: an ELF file cut short\n` });
  });
});

describe.skipIf(imageNames().every(({ name }) => name !== "shell"))(
  "run, with the shell image that is in the cache,",
  () => {
    it("passes standard input on, keeps both outputs apart and gives the command's exit code", async () => {
      const { code, stdout, stderr } = await cli(["run", "--", "sh", "-c", "cat; echo problem >&2; exit 7"], {
        input: "from the host\n",
      });
      expect({ code, stdout }).toEqual({ code: 7, stdout: "from the host\n" });
      expect(stderr).toContain("problem\n");
    });

    it("ends a command whose output nobody reads any more", async () => {
      const child = startCli(["run", "--", "yes"]);
      const closed = new Promise<number | null>((resolve) => child.on("exit", resolve));
      child.stdin.end();
      const first = await new Promise<Buffer>((resolve) => child.stdout.once("data", resolve));
      child.stdout.destroy();
      expect(first.toString().slice(0, 4)).toBe("y\ny\n");
      expect(await closed).toBe(137);
    });

    it("leaves input that the command does not read with whoever writes it", async () => {
      const child = startCli(["run", "--", "sh", "-c", "sleep 3; exit 4"]);
      const closed = new Promise<number | null>((resolve) => child.on("exit", resolve));
      const piece = Buffer.alloc(64 * 1024);
      let taken = 0;
      const offer = (error?: Error | null) => {
        if (error != null) return;
        taken += piece.length;
        child.stdin.write(piece, offer);
      };
      child.stdin.on("error", () => undefined).write(piece, offer);
      expect(await closed).toBe(4);
      expect(taken).toBeLessThan(4 * 1024 * 1024);
    });

    it("passes more input on than it holds at a time", async () => {
      const input = "0123456789abcde\n".repeat(400_000);
      const { code, stdout } = await cli(["run", "--", "sh", "-c", "sleep 1; wc"], { input });
      expect({ code, counts: stdout.trim().split(/\s+/) }).toEqual({
        code: 0,
        counts: ["400000", "400000", "6400000"],
      });
    });

    it("copies in and fetches out, folders too", async () => {
      await mkdir(join(folder, "in", "sub"), { recursive: true });
      await writeFile(join(folder, "in", "sub", "numbers"), "1\n2\n");
      const out = join(folder, "out");
      const { code } = await cli([
        "run",
        "--copy",
        `${join(folder, "in")}:work`,
        "--fetch",
        `work:${out}`,
        "--",
        "sh",
        "-c",
        "wc -l < work/sub/numbers > work/lines",
      ]);
      expect(code).toBe(0);
      expect(await readFile(join(out, "lines"), "utf8")).toBe("2\n");
      expect(await readFile(join(out, "sub", "numbers"), "utf8")).toBe("1\n2\n");
    });

    it("is the same machine with the same seed", async () => {
      const words = ["--", "sh", "-c", "od -An -tx1 -N16 /dev/urandom; hostname; cat /etc/machine-id"];
      const [one, two, other] = [
        await cli(["run", "--seed", "5", ...words]),
        await cli(["run", "--seed", "5", ...words]),
        await cli(["run", "--seed", "6", ...words]),
      ];
      expect(one.code).toBe(0);
      expect(two.stdout).toBe(one.stdout);
      expect(other.stdout).not.toBe(one.stdout);
    });

    it.each([
      [["--timeout", "1", "--", "sleep", "1000"], 124],
      [["--", "sh", "-c", "kill -9 $$"], 137],
      [["--", "no-such-program"], 127],
      [["--", "/etc/passwd"], 126],
      [["--user", "no-such-user", "--", "true"], 125],
      [["--user", "root", "--", "sh", "-c", "exit $(id -u)"], 0],
    ])("%j exits with %i", async (words, code) => {
      expect((await cli(["run", ...words])).code).toBe(code);
    });

    it.each([
      [["--user", "zz", "--", "id"], "there is no user zz"],
      [["--cwd", "/nowhere", "--", "id"], "cwd /nowhere: no such file or directory"],
      [["--fetch", "/nothing:x", "--", "true"], "/nothing: no such file or directory"],
    ])("%j says in words what the guest refused", async (words, why) => {
      const { code, stderr } = await cli(["run", ...words]);
      expect({ code, stderr }).toEqual({ code: 125, stderr: expect.stringContaining(why) as string });
    });

    it("gives the command a terminal of its own with -t", async () => {
      const { code, stdout } = await cli([
        "run",
        "-t",
        "--",
        "sh",
        "-c",
        "test -t 0 && test -t 1 && stty size",
      ]);
      expect({ code, stdout: stdout.trim() }).toEqual({ code: 0, stdout: "24 80" });
    });
  },
);
