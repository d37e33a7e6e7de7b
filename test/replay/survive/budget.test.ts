import { existsSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { check, prune, readIndex } from "../../../src/replay/index.js";
import { until } from "../../support/wire-server.js";
import { bundles, filesOf, recordedEcho, recorder, say, scratch } from "../support/recording.js";

describe("a folder with a budget", () => {
  const day = 24 * 3600;

  /** Records an episode with content of its own and content that all have; makes both as old as it should be. */
  async function episode(folder: string, days: number, own: string): Promise<string> {
    const into = recorder({ folder });
    const environment = recordedEcho(into);
    await environment.reset();
    await environment.step([say("shared ".repeat(4_000)), say(own.repeat(4_000))]);
    const file = environment.bundle?.file ?? "";
    await environment.close();
    await into.close();
    const then = Date.now() / 1_000 - days * day;
    for (const path of [join(folder, file), ...filesOf(join(folder, "blobs"))]) utimesSync(path, then, then);
    return file;
  }

  const sizeOf = (folder: string) =>
    filesOf(folder)
      .filter((path) => !path.endsWith("index.jsonl"))
      .reduce((sum, path) => sum + statSync(path).size, 0);

  it("loses its oldest bundles, with content that no other refers to, and their lines of the index", async () => {
    const folder = scratch();
    const files: string[] = [];
    for (const [days, own] of [
      [4, "oldest "],
      [3, "older "],
      [2, "newer "],
      [1, "newest "],
    ] as const)
      files.push(await episode(folder, days, own));
    const blobs = () => filesOf(join(folder, "blobs")).length;
    expect(blobs()).toBe(5);
    const all = sizeOf(folder);
    expect(await prune(folder, all)).toMatchObject({ bundles: 0, blobs: 0, bytes: all });
    expect(await prune(folder, Math.floor(all * 0.7))).toMatchObject({ bundles: 2, blobs: 2 });
    expect(
      bundles(folder)
        .map((path) => relative(folder, path))
        .sort(),
    ).toEqual(files.slice(2).sort());
    expect([...(await readIndex(folder)).keys()].sort()).toEqual(files.slice(2).sort());
    expect((await check(folder)).map(({ status }) => status)).toEqual(["whole", "whole"]);
    expect(sizeOf(folder)).toBeLessThanOrEqual(all * 0.7);
  });

  it("keeps what is being written, what was used of late, and what only a bundle itself tells of", async () => {
    const folder = scratch();
    const oldest = await episode(folder, 4, "oldest ");
    const unindexed = await episode(folder, 1, "unindexed ");
    const index = readFileSync(join(folder, "index.jsonl"), "utf8").split("\n");
    writeFileSync(join(folder, "index.jsonl"), `${index[0] ?? ""}\n`);
    const into = recorder({ folder });
    const running = recordedEcho(into);
    await running.reset();
    await running.step([say("oldest ".repeat(4_000))]);
    await running.step([say("b")]);
    const path = join(folder, running.bundle?.file ?? "");
    utimesSync(path, 1, 1);
    const pruned = await prune(folder, 1);
    expect(pruned).toMatchObject({ bundles: 2 });
    expect(existsSync(join(folder, oldest)) || existsSync(join(folder, unindexed))).toBe(false);
    await running.close();
    expect((await check(folder)).map(({ status }) => status)).toEqual(["whole"]);
  });

  it("keeps the episode that a branch which is still played began with, and lets both go later", async () => {
    const folder = scratch();
    const into = recorder({ folder });
    const parent = recordedEcho(into);
    await parent.reset();
    await parent.step([say("a")]);
    const branch = await parent.fork();
    const file = parent.bundle?.file ?? "";
    await parent.close();
    await branch.step([say("b")]);
    await branch.step([say("c")]);
    utimesSync(join(folder, file), 1, 1);
    expect(await prune(folder, 1)).toMatchObject({ bundles: 0 });
    expect(existsSync(join(folder, file))).toBe(true);
    await branch.close();
    expect(await prune(folder, 1)).toMatchObject({ bundles: 2 });
  });

  it("is pruned by one process at a time, and a bundle that is finished meanwhile stays in the index", async () => {
    const folder = scratch();
    for (const days of [3, 2, 1]) await episode(folder, days, `d${days} `);
    const into = recorder({ folder });
    const running = recordedEcho(into);
    await running.reset();
    const file = running.bundle?.file ?? "";
    const results = await Promise.all([prune(folder, 10_000), prune(folder, 10_000), running.close()]);
    expect(results.slice(0, 2).filter((result) => result === null)).toHaveLength(1);
    expect([...(await readIndex(folder)).keys()]).toContain(file);
    expect((await check(folder)).filter(({ status }) => status !== "whole")).toEqual([]);
  });

  it("prunes itself when a recorder opens it; without a budget nothing ever goes", async () => {
    const folder = scratch();
    for (const days of [3, 2]) await episode(folder, days, `d${days} `);
    const plain = recorder({ folder });
    const first = recordedEcho(plain);
    await first.reset();
    await first.close();
    expect(bundles(folder)).toHaveLength(3);
    const into = recorder({ folder, budgetBytes: 1 });
    const environment = recordedEcho(into);
    await environment.reset();
    await until(() => bundles(folder).length === 1);
    await environment.close();
  });
});
