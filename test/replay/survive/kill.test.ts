import { type ChildProcess, spawn } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { connect } from "../../../src/client/index.js";
import { check, readBundle, readIndex, recover } from "../../../src/replay/index.js";
import { indexPath } from "../../../src/replay/write/index-file.js";
import { startCli } from "../../support/cli.js";
import { machinesUnavailable, TEST_IMAGE } from "../../support/machine.js";
import { until } from "../../support/wire-server.js";
import { againstIndex, bundles, eventsOf, scratch } from "../support/recording.js";

/** As many kills as the rule speaks of; they share the two processors that a test may use. */
const kills = Number(process.env["SHINKEN_KILLS"] ?? 200);
const atATime = 4;

const children = new Set<ChildProcess>();
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  children.clear();
});

const player = fileURLToPath(new URL("../support/player.mjs", import.meta.url));

/**
 * Starts a player and kills it so many milliseconds after it has said something, or after an episode of it is in the index. Gives the
 * latest answered step of each bundle.
 */
async function killedPlayer(
  folder: string,
  what: RegExp | "finished",
  delay: number,
): Promise<Map<string, number>> {
  const child = spawn(process.execPath, [player, folder, "3"], { stdio: ["ignore", "pipe", "inherit"] });
  children.add(child);
  let said = "";
  child.stdout.on("data", (text: Buffer) => {
    const before = what !== "finished" && what.test(said);
    said += text.toString();
    if (what !== "finished" && !before && what.test(said)) setTimeout(() => child.kill("SIGKILL"), delay);
  });
  if (what === "finished") {
    await until(() => (statSync(indexPath(folder), { throwIfNoEntry: false })?.size ?? 0) > 0);
    setTimeout(() => child.kill("SIGKILL"), delay);
  }
  await new Promise((resolve) => child.once("close", resolve));
  children.delete(child);
  const steps = new Map<string, number>();
  // The last line may have been cut.
  for (const line of said.split("\n").slice(0, -1)) {
    const [file = "", step = ""] = line.split(" ");
    steps.set(file, Number(step));
  }
  return steps;
}

/** What is wrong with a folder after a kill; nothing, as it should be. */
async function faults(folder: string, answered: ReadonlyMap<string, number>): Promise<string[]> {
  const found: string[] = [];
  const index = await readIndex(folder);
  for (const file of (await againstIndex(folder)).wrong) found.push(`${file} is not what the index says`);
  for (const [file, step] of answered) {
    const { steps, start } = await readBundle(join(folder, file)).catch(() => ({ steps: [], start: null }));
    const last = steps.findLast(({ observation }) => observation !== null)?.step ?? 0;
    if (last < step - 1 || (step > 0 && start?.observation == null))
      found.push(`${file}: step ${step} was answered, and ${last} is the last in it`);
    steps.forEach((each, at) => {
      if (each.step !== at + 1) found.push(`${file}: step ${at + 1} is missing`);
    });
    if (index.has(file) && last !== step) found.push(`${file} was finished without step ${step}`);
  }
  // Every one that is there, also those of which nothing was said, is a clean prefix, if only of nothing.
  for (const path of bundles(folder))
    if (statSync(path).size > 0)
      await eventsOf(path).catch((error: unknown) => {
        if (statSync(path).size > 64) found.push(`${path}: ${String(error)}`);
      });
  return found;
}

describe("a recorder that is killed", () => {
  it(`${kills} times at any moment loses at most the last answered step of what was running`, async () => {
    const folders: string[] = [];
    let wrong: string[] = [];
    let left = kills;
    let unfinished = 0;
    let whole = 0;
    const lane = async () => {
      while (left > 0) {
        left -= 1;
        const folder = scratch();
        folders.push(folder);
        // Most are killed among their steps, some once an episode is whole, and some before anything can be on disk.
        const what = left % 10 === 0 ? /\n/ : left % 10 === 1 ? "finished" : / [1-9]\d*\n/;
        const answered = await killedPlayer(folder, what, Math.random() ** 3 * 50);
        wrong = [...wrong, ...(await faults(folder, answered))];
        whole += (await readIndex(folder)).size;
        unfinished += bundles(folder).length - (await readIndex(folder)).size;
      }
    };
    await Promise.all(Array.from({ length: atATime }, lane));
    expect(wrong).toEqual([]);
    expect(unfinished).toBeGreaterThan(kills);
    expect(whole).toBeGreaterThan(0);

    for (const folder of folders.slice(0, 8)) {
      const before = bundles(folder).length;
      for (const { status } of await recover(folder))
        expect(["recovered", "finished", "indexed", "empty"]).toContain(status);
      const unwell = (await check(folder)).filter(({ status }) => status !== "whole");
      expect(unwell.filter(({ status }) => status !== "unfinished")).toEqual([]);
      expect(bundles(folder)).toHaveLength(before);
    }
  }, 300_000);

  it("among real machines loses no more either", async (context) => {
    const unavailable = await machinesUnavailable();
    if (unavailable !== null) return context.skip(unavailable);
    for (const delay of [0, 40, 150]) {
      const folder = scratch();
      const server = startCli([
        "serve",
        "--port",
        "0",
        "--json",
        "--log-level",
        "silent",
        "--record",
        folder,
      ]);
      children.add(server);
      const url = await new Promise<string>((resolve) => {
        server.stdout.once("data", (text: Buffer) => {
          resolve((JSON.parse(text.toString()) as { url: string }).url);
        });
      });
      const answered: number[] = [];
      const play = async (number: number) => {
        const client = await connect(url, { reconnect: false });
        const session = await client.create({ image: TEST_IMAGE });
        await session.reset();
        answered[number] = 0;
        for (let step = 1; ; step += 1) {
          await session.step([{ type: "exec", command: `echo step ${step} of ${number}` }]);
          answered[number] = step;
        }
      };
      const plays = [0, 1].map((number) =>
        play(number).catch((error: unknown) => {
          if (!server.killed) throw error;
        }),
      );
      await Promise.race([until(() => (answered[0] ?? 0) >= 3 && (answered[1] ?? 0) >= 3), ...plays]);
      setTimeout(() => server.kill("SIGKILL"), delay);
      await Promise.all(plays);
      const found = await Promise.all(bundles(folder).map((path) => readBundle(path)));
      expect(found).toHaveLength(2);
      for (const { steps, session, start } of found) {
        expect(start.snapshot?.digest).toMatch(/^[0-9a-f]{32,}$/);
        expect(session).toMatchObject({ image: expect.any(String) as string, fork: { kind: "replica" } });
        const whole = steps.filter(({ observation, snapshot }) => observation !== null && snapshot !== null);
        const text = JSON.stringify(whole[0]?.observation?.observation);
        const number = text.includes("of 0") ? 0 : 1;
        expect(text).toContain(`step 1 of ${number}`);
        expect(whole.at(-1)?.step).toBeGreaterThanOrEqual((answered[number] ?? 0) - 1);
      }
      expect((await recover(folder)).map(({ status }) => status)).toEqual(["recovered", "recovered"]);
      expect((await check(folder)).map(({ status }) => status)).toEqual(["whole", "whole"]);
    }
  });
});
