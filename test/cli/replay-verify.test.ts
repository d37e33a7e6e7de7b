import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bundle, bundleFiles, readBundle, Recorder } from "../../src/replay/index.js";
import { document } from "../env/session-support.js";
import { folderForFile, forged } from "../rollout/replays/support.js";
import { cli } from "../support/cli.js";
import { machinesUnavailable } from "../support/machine.js";

const unavailable = await machinesUnavailable();
const folder = folderForFile();
const tasks = join(folder, "tasks");
const runs = join(folder, "runs");

interface Report {
  files: {
    file: string;
    equal: boolean;
    steps: number;
    first_difference: { step: number; what: string; detail: string } | null;
    error?: { code: string; path?: string };
  }[];
  ok: boolean;
}

async function verify(...words: string[]): Promise<{ code: number | null; report: Report }> {
  const { code, stdout } = await cli(["replay", "verify", ...words, "--tasks", tasks, "--json"]);
  return { code, report: JSON.parse(stdout) as Report };
}

describe.skipIf(unavailable !== null)("shinken replay verify", () => {
  const recorder = new Recorder({ folder: runs, runtime: "shinken-gym/test" });
  let bundles: Bundle[] = [];
  beforeAll(async () => {
    await mkdir(join(tasks, "two-files"), { recursive: true });
    await writeFile(join(tasks, "two-files", "task.json"), JSON.stringify(document));
    const { code } = await cli(["eval", tasks, "--replicas", "2", "--record", runs, "--json"]);
    expect(code).toBe(0);
    bundles = await Promise.all((await bundleFiles([runs])).map((file) => readBundle(file)));
  });
  afterAll(() => recorder.close());

  const first = (): Bundle => bundles[0] as Bundle;
  const changed = async (change: Parameters<typeof forged>[2]): Promise<string> =>
    (await forged({ recorder, folder: runs }, first(), change)).file;
  const session = (change: Record<string, unknown>) =>
    changed((event) => (event.channel === "session" ? { ...event, ...change } : event));

  it.each(["soft", "uffd"])(
    "exits 0 for a folder of episodes that are equal, on %s memory",
    async (memory) => {
      const { code, report } = await verify(join(runs, "two-files"), "--memory", memory);
      expect(code).toBe(0);
      expect(report.ok).toBe(true);
      expect(report.files.map(({ file }) => file)).toEqual(bundles.map(({ file }) => file));
      for (const one of report.files)
        expect(one).toMatchObject({ equal: true, steps: 2, first_difference: null });
    },
  );

  it("exits 1 with the first difference", async () => {
    const other = await changed((event) =>
      event.channel === "action" ? { ...event, action: { type: "exec", command: "echo 1 > one" } } : event,
    );
    const { code, report } = await verify(first().file, other);
    expect(code).toBe(1);
    expect(report).toMatchObject({
      files: [
        { equal: true },
        { file: other, equal: false, steps: 1, first_difference: { step: 1, what: "state" } },
      ],
      ok: false,
    });
    const { stdout } = await cli(["replay", "verify", other, "--tasks", tasks]);
    expect(stdout).toMatch(/two-files +1 +DIFFERENT/);
    expect(stdout).toContain(`${other}: step 1, state`);
    expect(stdout).toContain("0 of 1 episodes repeat themselves to the bit");
  });

  it("exits 2 for a damaged file and for one that cannot be run again, with the reason", async () => {
    const damaged = join(runs, "forged", "damaged.skn");
    await copyFile(first().file, damaged);
    const bytes = await readFile(damaged);
    const middle = bytes.length >> 1;
    bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle);
    await writeFile(damaged, bytes);
    const unknown = await session({ task: "three-files" });
    const { code, report } = await verify(damaged, unknown);
    expect(code).toBe(2);
    expect(report.files).toMatchObject([
      { equal: false, steps: 0, first_difference: null, error: { code: "bad_bundle" } },
      { equal: false, error: { code: "not_repeatable", path: "task" } },
    ]);
    const nothing = await cli(["replay", "verify", join(folder, "nothing"), "--tasks", tasks]);
    expect(nothing.code).toBe(2);
  });

  it("exits 4 for machines of another ABI, and then only", async () => {
    const other = await session({ machine_abi: 1 });
    const { code, report } = await verify(first().file, other);
    expect(code).toBe(4);
    expect(report.files).toMatchObject([
      { equal: true },
      { equal: false, first_difference: null, error: { code: "not_repeatable", path: "machine_abi" } },
    ]);
    const unknown = await session({ task: "three-files" });
    expect((await verify(other, unknown)).code).toBe(2);
  });

  it("exits 3 where no machine can be made", async () => {
    const { code, stdout } = await cli(["replay", "verify", first().file, "--tasks", tasks, "--json"], {
      env: { SHINKEN_CACHE: join(folder, "no-cache") },
    });
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      files: [{ error: { code: "not_repeatable", path: "image" } }],
    });
  });
});
