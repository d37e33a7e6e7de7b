import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { AgentClient, type ForkAcknowledgement } from "../../src/sandbox/agent/index.js";
import { buildHostAgent, ProcessTransport } from "./process-transport.js";

const packet = {
  generation: "12345678-9abc-4def-8123-456789abcdef",
  entropy: new Uint8Array(64).fill(7),
  hostname: "m-1",
  machineId: "0123456789abcdef".repeat(2),
  bootId: "00112233-4455-4677-8899-aabbccddeeff",
};

let path: string;
/** Holds the hooks, and what they leave behind. */
let folder: string;
let transport: ProcessTransport | undefined;

beforeAll(() => {
  path = buildHostAgent();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "shinken-hooks-"));
  mkdirSync(join(folder, "hooks"));
});
afterEach(async () => {
  await transport?.close();
  expect(transport?.complaints).toBe("");
  rmSync(folder, { recursive: true, force: true });
});

const hook = (name: string, script: string, mode = 0o755): void => {
  writeFileSync(join(folder, "hooks", name), `#!/bin/sh\n${script}\n`, { mode });
};
const left = (name: string): string => readFileSync(join(folder, name), "utf8");

/** Starts an agent that finds the hooks, and makes its machine unique. */
async function unique(): Promise<ForkAcknowledgement> {
  transport ??= new ProcessTransport(path, { SHINKEN_HOOKS: join(folder, "hooks") });
  return new AgentClient(transport, { firstStream: streams++ }).uniqueness(packet);
}
let streams = 1;

describe("hooks of the uniqueness step", () => {
  beforeEach(() => {
    transport = undefined;
  });

  it("run in the order of their names, after the agent's own steps", async () => {
    hook("20-b", `echo b >> ${folder}/order`);
    hook("100-c", `echo c >> ${folder}/order`);
    hook("20-B", `echo B >> ${folder}/order`);
    hook("10-a", `echo a >> ${folder}/order`);
    expect(await unique()).toMatchObject({ hooks: 4 });
    expect(left("order")).toBe("a\nc\nB\nb\n");
  });

  it("have the fork's names and random bytes of their own in an environment that holds nothing else", async () => {
    for (const name of ["1", "2"]) hook(name, `exec env -u PWD -u SHLVL -u _ > ${folder}/env-${name}`);
    await unique();
    const environments = ["1", "2"].map((name) => left(`env-${name}`).trim().split("\n").sort());
    const seeds = environments.map((lines) => lines.filter((line) => line.startsWith("SHINKEN_SEED=")));
    expect(environments.map((lines) => lines.filter((line) => !line.startsWith("SHINKEN_SEED=")))).toEqual(
      Array(2).fill([
        "HOME=/nonexistent",
        "LANG=C.UTF-8",
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        `SHINKEN_GENERATION=${packet.generation}`,
        "SHINKEN_HOSTNAME=m-1",
      ]),
    );
    for (const seed of seeds) expect(seed).toEqual([expect.stringMatching(/^SHINKEN_SEED=[0-9a-f]{64}$/)]);
    expect(seeds[0]).not.toEqual(seeds[1]);
    await unique();
    expect(left("env-1")).not.toContain(seeds[0]?.[0]);
  });

  it.each([
    ["exits with a number", "exit 3", "exit 3"],
    ["is killed by a signal", "kill -TERM $$", "signal 15"],
    ["takes longer than it may", "sleep 60", "ETIMEDOUT"],
  ])("fail the fork when one %s, and run none after it", async (_how, script, why) => {
    hook("1-good", "exit 0");
    hook("2-bad", script);
    hook("3-never", `touch ${folder}/ran`);
    await expect(unique()).rejects.toMatchObject({
      code: "fork_failed",
      message: `The fork failed its uniqueness step 'hook 2-bad': ${why}.`,
    });
    expect(() => left("ran")).toThrow(/ENOENT/);
  });

  it("leave no process behind", async () => {
    hook("1", `sleep 60 & echo $! > ${folder}/pid; exit 0`);
    await unique();
    const stat = `/proc/${left("pid").trim()}/stat`;
    // Dead, whether its new parent has asked for its status or not.
    await vi.waitFor(() => {
      expect(existsSync(stat) ? readFileSync(stat, "utf8").replace(/.*\) /s, "").charAt(0) : "gone").toMatch(
        /Z|gone/,
      );
    });
  });

  it.each([
    ["is not executable", () => hook("plain", "exit 0", 0o644), "hook plain", "EACCES"],
    ["is no file", () => symlinkSync("/bin/true", join(folder, "hooks", "link")), "hook link", "EACCES"],
    [
      "has no interpreter",
      () => writeFileSync(join(folder, "hooks", "odd"), "#!/none\n", { mode: 0o755 }),
      "hook odd",
      "ENOENT",
    ],
    [
      "has a name that is too long",
      () => hook("n".repeat(48), "exit 0"),
      `hook ${"n".repeat(48)}`,
      "ENAMETOOLONG",
    ],
    ["is one too many", () => "123456789".split("").forEach((name) => hook(name, "exit 0")), "hook", "E2BIG"],
  ])("fail every fork of an image in which one %s", async (_what, plant, where, why) => {
    plant();
    for (let i = 0; i < 2; i++)
      await expect(unique()).rejects.toMatchObject({
        code: "fork_failed",
        message: expect.stringMatching(new RegExp(`'${where}( \\d)?': ${why}`)) as string,
      });
  });

  it("are those that were there at the start, and files whose names begin with a dot are none", async () => {
    hook(".hidden", "exit 1");
    expect(await unique()).toMatchObject({ hooks: 0 });
    hook("1-planted", "exit 1");
    expect(await unique()).toMatchObject({ hooks: 0 });
  });
});
