import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { once } from "node:events";
import { beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../src/client/index.js";
import { type Bundle, bundleFiles, readBundle } from "../../src/replay/index.js";
import { document } from "../env/session-support.js";
import { folderForFile } from "../rollout/replays/support.js";
import { cli, startCli } from "../support/cli.js";
import { machinesUnavailable } from "../support/machine.js";

const unavailable = await machinesUnavailable();
const folder = folderForFile();
const tasks = join(folder, "tasks");
const runs = join(folder, "runs");
const env = { SHINKEN_TOKEN: "" };

describe.skipIf(unavailable !== null)("shinken replay branch", () => {
  let bundle: Bundle;
  beforeAll(async () => {
    await mkdir(join(tasks, "two-files"), { recursive: true });
    const steps = [
      { type: "exec", command: "echo 1 > one" },
      { type: "exec", command: "echo 2 > two" },
    ];
    await writeFile(join(tasks, "two-files", "task.json"), JSON.stringify({ ...document, oracle: steps }));
    const { code } = await cli(["eval", tasks, "--replicas", "1", "--record", runs, "--json"]);
    expect(code).toBe(0);
    const [file = ""] = await bundleFiles([runs]);
    bundle = await readBundle(file);
  });

  const branch = (...words: string[]) =>
    cli(["replay", "branch", bundle.file, "--tasks", tasks, "--json", ...words]);

  it("lets an operator go on, and keeps a bundle that names its parent and can be verified", async () => {
    const { code, stdout } = await branch("--at", "1", "--operator", "oracle");
    expect(code).toBe(0);
    const told = JSON.parse(stdout) as { file: string; episode: string };
    expect(told).toMatchObject({
      parent: { episode: bundle.session.episode, step: 1 },
      steps: 2,
      milestones: ["two"],
      status: "graded",
      score: 1,
    });
    const { session } = await readBundle(join(runs, told.file));
    expect(session).toMatchObject({ episode: told.episode, parent: { episode: bundle.session.episode } });
    const again = await cli(["replay", "verify", join(runs, told.file), "--tasks", tasks, "--json"]);
    expect(again.code).toBe(0);
    const idle = await branch("--at", "1", "--operator", "null");
    expect(JSON.parse(idle.stdout)).toMatchObject({ steps: 0, status: "graded" });
  });

  it("opens a session on a server of its own, for whoever attaches", async () => {
    const words = ["replay", "branch", bundle.file, "--tasks", tasks, "--json", "--at", "1", "--serve", "0"];
    const child = startCli(words, { env });
    try {
      const lines = createInterface(child.stdout);
      const [line] = (await once(lines, "line")) as [string];
      const { url, session, token, next } = JSON.parse(line) as Record<string, string>;
      expect(next).toBe(2);
      const client = await connect(url ?? "");
      const mine = await client.attach(session ?? "", token ?? "");
      const { observation } = await mine.step([{ type: "exec", command: "cat one" }]);
      expect(observation.results[0]).toMatchObject({ stdout: "1\n" });
      await mine.close();
      await client.close();
    } finally {
      const ended = once(child, "close");
      child.kill("SIGTERM");
      expect(await ended).toEqual([0, null]);
    }
  });

  it.each([
    [["--at", "1"], "give one of --operator and --serve"],
    [["--at", "1", "--operator", "oracel"], "oracle"],
    [["--at", "9", "--operator", "null"], "there is no step 9"],
    [["--at", "3", "--operator", "null"], "the episode is over after step 3"],
    [["--at", "1", "--operator", "null", "--effects", "mock"], "no machine has a way out"],
    [["--at", "1", "--operator", "null", "--tasks", join(folder, "nothing")], "no such file or folder"],
  ])("%j exits with 2 and says why", async (words, why) => {
    const { code, stderr } = await branch(...words);
    expect(stderr).toContain(why);
    expect(code).toBe(2);
  });
});
