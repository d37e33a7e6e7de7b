import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { McapIndexedReader, McapStreamReader } from "@mcap/core";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { connect } from "../../src/client/index.js";
import { decompressHandlers } from "../../src/replay/read/reader.js";
import { check, prune, readBundle, readIndex, recover } from "../../src/replay/index.js";
import { cli, startCli } from "../support/cli.js";
import { machinesUnavailable, TEST_IMAGE } from "../support/machine.js";
import { until } from "../support/wire-server.js";
import {
  againstIndex,
  bundles,
  eventsOf,
  filesOf,
  recordedEcho,
  recorder,
  say,
  scratch,
} from "./support/recording.js";

/** As many kills as the rule speaks of; they share the two processors that a test may use. */
const kills = Number(process.env["SHINKEN_KILLS"] ?? 200);
const atATime = 4;

const children = new Set<ChildProcess>();
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  children.clear();
});

const player = fileURLToPath(new URL("./support/player.mjs", import.meta.url));

/** Starts a player and kills it so many milliseconds after it has said something. Gives the latest answered step of each bundle. */
async function killedPlayer(folder: string, what: RegExp, delay: number): Promise<Map<string, number>> {
  const child = spawn(process.execPath, [player, folder, "3"], { stdio: ["ignore", "pipe", "inherit"] });
  children.add(child);
  let said = "";
  child.stdout.on("data", (text: Buffer) => {
    const before = what.test(said);
    said += text.toString();
    if (!before && what.test(said)) setTimeout(() => child.kill("SIGKILL"), delay);
  });
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
        // Most are killed among their steps, some after many episodes, and some before anything can be on disk.
        const what = left % 10 === 0 ? /\n/ : / [1-9]\d*\n/;
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

/** A finished episode of five steps, one of which has content beside the bundle. */
async function finishedBundle() {
  const into = recorder();
  const environment = recordedEcho(into, { labels: { run: "r" } });
  await environment.reset({ seed: 3 });
  for (let step = 1; step <= 5; step += 1)
    await environment.step([say(step === 3 ? "page ".repeat(8_000) : `step ${step}`)]);
  const { file = "" } = environment.bundle ?? {};
  await environment.close();
  await into.close();
  return { folder: into.folder, file, path: join(into.folder, file) };
}

/** The same, cut off among its events, as if it had been written in its folder until then. */
async function cutBundle() {
  const made = await finishedBundle();
  truncateSync(made.path, Math.floor(statSync(made.path).size * 0.4));
  rmSync(join(made.folder, "index.jsonl"));
  return made;
}

/** What a file says of itself in its summary, to tools that jump to the end first; and how many messages it has. */
async function viaSummary(path: string) {
  const bytes = readFileSync(path);
  const readable = {
    size: () => Promise.resolve(BigInt(bytes.length)),
    read: (at: bigint, length: bigint) =>
      Promise.resolve(Uint8Array.from(bytes.subarray(Number(at), Number(at + length)))),
  };
  const { statistics, chunkIndexes } = await McapIndexedReader.Initialize({ readable, decompressHandlers });
  const stream = new McapStreamReader({ decompressHandlers, validateCrcs: true });
  stream.append(bytes);
  let messages = 0;
  for (let record = stream.nextRecord(); record !== undefined; record = stream.nextRecord())
    if (record.type === "Message") messages += 1;
  expect(stream.done()).toBe(true);
  for (const { chunkStartOffset } of chunkIndexes) expect(bytes[Number(chunkStartOffset)]).toBe(6);
  expect(chunkIndexes).toHaveLength(statistics?.chunkCount ?? -1);
  return { messages, statistics };
}

describe("replay recover", () => {
  it("finishes a bundle that was cut off at any byte, with what was whole before it", async () => {
    const { folder, path } = await finishedBundle();
    const whole = readFileSync(path);
    const all = await eventsOf(path);
    for (let length = 0; length < whole.length; length += 61) {
      writeFileSync(path, whole.subarray(0, length));
      const before = await eventsOf(path).catch(() => []);
      rmSync(join(folder, "index.jsonl"), { force: true });
      const [recovery] = await recover(folder);
      if (before.length === 0) {
        expect(recovery).toMatchObject({ status: "empty" });
        expect(statSync(path).size).toBe(length);
        continue;
      }
      expect(recovery).toMatchObject({ status: "recovered", events: before.length + 1 });
      const after = await eventsOf(path);
      expect(after.slice(0, -1)).toEqual(all.slice(0, before.length));
      expect(after.at(-1)).toMatchObject({ channel: "marker", kind: "recovered", seq: before.length });
      const { messages, statistics } = await viaSummary(path);
      expect(messages).toBe(after.length);
      expect(Number(statistics?.messageCount)).toBe(after.length);
    }
  });

  it("adds the line of the index, and does nothing a second time", async () => {
    const { folder, file, path } = await cutBundle();
    expect(await recover(folder)).toMatchObject([{ file: path, status: "recovered", kept: null }]);
    expect((await readIndex(folder)).get(file)).toMatchObject({
      recovered: true,
      task: "echo",
      seed: null,
      labels: { run: "r" },
      blobs: [expect.stringMatching(/^[0-9a-f]{64}$/) as string],
    });
    const once = readFileSync(path);
    const lines = readFileSync(join(folder, "index.jsonl"), "utf8");
    expect(await recover(folder)).toMatchObject([{ status: "finished" }]);
    expect(await recover(path)).toMatchObject([{ status: "finished" }]);
    expect(readFileSync(path).equals(once)).toBe(true);
    expect(readFileSync(join(folder, "index.jsonl"), "utf8")).toBe(lines);
    expect(await check(folder)).toMatchObject([{ status: "whole" }]);
    expect(filesOf(dirname(path)).map((each) => basename(each))).toEqual([basename(path)]);
  });

  it("puts a finished bundle into the index that its writer could not", async () => {
    const { folder, file } = await finishedBundle();
    const line = (await readIndex(folder)).get(file);
    rmSync(join(folder, "index.jsonl"));
    expect(await recover(folder)).toMatchObject([{ status: "indexed" }]);
    expect((await readIndex(folder)).get(file)).toEqual(line);
  });

  it("leaves a bundle alone that a living process writes, whoever asks", async () => {
    const into = recorder();
    const environment = recordedEcho(into);
    await environment.reset();
    await environment.step([say("a")]);
    const path = join(into.folder, environment.bundle?.file ?? "");
    await until(() => existsSync(path));
    expect(await recover(into.folder)).toMatchObject([{ status: "busy" }]);
    const { code, stdout } = await cli(["replay", "recover", into.folder, "--json"]);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { ok: true, files: [{ status: "busy" }] }]);
    expect(await check(path)).toMatchObject([{ status: "busy" }]);
    await environment.step([say("b")]);
    await environment.close();
    expect(await againstIndex(into.folder)).toEqual({ equal: 1, wrong: [] });
    expect(await recover(into.folder)).toMatchObject([{ status: "finished" }]);
  });

  it("tells a killed writer from a later process of the same number", async () => {
    const { folder, path } = await cutBundle();
    const place = JSON.parse(readFileSync(await ownLock(), "utf8")) as { pid: number; started: string };
    writeFileSync(`${path}.lock`, JSON.stringify({ ...place, started: `${place.started}0` }));
    expect(await recover(folder)).toMatchObject([{ status: "recovered" }]);
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  it("waits for a writer elsewhere until its file has rested for a day", async () => {
    const { folder, path } = await cutBundle();
    writeFileSync(`${path}.lock`, JSON.stringify({ pid: 1, started: "1", place: "another host" }));
    expect(await recover(folder)).toMatchObject([{ status: "busy" }]);
    const yesterday = Date.now() / 1_000 - 25 * 3600;
    for (const each of [path, `${path}.lock`]) utimesSync(each, yesterday, yesterday);
    expect(await recover(folder)).toMatchObject([{ status: "recovered" }]);
  });

  it("keeps what comes before the first damage, and the damaged file beside it", async () => {
    const { folder, path } = await finishedBundle();
    const all = await eventsOf(path);
    rmSync(join(folder, "index.jsonl"));
    const bytes = readFileSync(path);
    const at = Math.floor(bytes.length * 0.3);
    bytes[at] = (bytes[at] ?? 0) ^ 0x10;
    writeFileSync(path, bytes);
    const { code, stdout } = await cli(["replay", "recover", folder, "--json"]);
    expect(code).toBe(1);
    const { files, ok } = JSON.parse(stdout) as {
      files: { status: string; kept: string; damage: { at: number } }[];
      ok: boolean;
    };
    expect([ok, files]).toMatchObject([false, [{ status: "salvaged", kept: `${path}.damaged` }]]);
    expect(files[0]?.damage.at).toBeLessThanOrEqual(at);
    expect(files[0]?.damage.at).toBeGreaterThan(0);
    expect(readFileSync(`${path}.damaged`).equals(bytes)).toBe(true);
    const kept = await eventsOf(path);
    expect(kept.slice(0, -1)).toEqual(all.slice(0, kept.length - 1));
    expect(kept.length).toBeGreaterThan(2);
    expect(await recover(folder)).toMatchObject([{ status: "finished" }]);
  });

  it("refuses what is no bundle, and says so to who names nothing at all", async () => {
    const folder = scratch();
    const path = join(folder, "a.skn");
    writeFileSync(path, "something else entirely");
    expect(await recover(folder)).toMatchObject([{ status: "refused" }]);
    expect(readFileSync(path, "utf8")).toBe("something else entirely");
    const { code } = await cli(["replay", "recover", join(folder, "nowhere")]);
    expect(code).toBe(2);
  });
});

/** The lock of a bundle that this process writes. */
async function ownLock(): Promise<string> {
  const into = recorder();
  const environment = recordedEcho(into);
  await environment.reset();
  const path = join(into.folder, `${environment.bundle?.file ?? ""}.lock`);
  await until(() => existsSync(path));
  onTestFinished(() => environment.close());
  return path;
}

describe("replay check", () => {
  it("finds any flipped bit of a bundle, and names the first record that is not whole where one is", async () => {
    const { folder, path } = await finishedBundle();
    expect(await check(folder)).toMatchObject([{ status: "whole" }]);
    const whole = readFileSync(path);
    const named = { damaged: 0, altered: 0 };
    for (let bit = 3; bit < whole.length * 8; bit += 397) {
      const bytes = Buffer.from(whole);
      const at = bit >> 3;
      bytes[at] = (bytes[at] ?? 0) ^ (1 << (bit & 7));
      writeFileSync(path, bytes);
      const [{ status, damage } = { status: "none", damage: null }] = await check(folder);
      expect(["damaged", "altered"], `bit ${bit}`).toContain(status);
      if (damage !== null) expect(damage.at).toBeLessThanOrEqual(at);
      named[status as "damaged" | "altered"] += 1;
    }
    // Most of a file is events, and those have checksums.
    expect(named.damaged).toBeGreaterThan(0);
  });

  it("finds content that is missing or damaged, and bundles that are missing, cut off or not told of", async () => {
    const { folder, path, file } = await finishedBundle();
    const blob = filesOf(join(folder, "blobs"))[0] ?? "";
    const content = readFileSync(blob);
    writeFileSync(blob, Buffer.concat([content.subarray(0, -3), Buffer.from("xyz")]));
    expect(await check(path)).toMatchObject([
      { status: "incomplete", blobs: [{ sha256: basename(blob), code: "bad_bundle" }] },
    ]);
    rmSync(blob);
    const { code, stdout } = await cli(["replay", "check", folder, "--json"]);
    expect([code, JSON.parse(stdout)]).toMatchObject([
      1,
      { ok: false, files: [{ status: "incomplete", blobs: [{ code: "blob_missing" }] }] },
    ]);
    writeFileSync(blob, content);
    const other = join(dirname(path), "other.skn");
    copyFileSync(path, other);
    truncateSync(path, statSync(path).size - 10);
    expect((await check(folder)).map(({ status }) => status).sort()).toEqual(["damaged", "unindexed"]);
    rmSync(path);
    expect(await check(folder)).toContainEqual(
      expect.objectContaining({ file: join(folder, file), status: "missing" }),
    );
  });
});

/** Why no disk can be mounted here, or null. */
function mountObstacle(): string | null {
  const folder = scratchBeforeTests();
  const mounted = spawnSync("mount", ["-t", "tmpfs", "shinken-test", folder]).status === 0;
  if (mounted) execFileSync("umount", [folder]);
  rmSync(folder, { recursive: true });
  return mounted ? null : "only root may mount a disk";
}

function scratchBeforeTests(): string {
  return execFileSync("mktemp", ["-d"], { encoding: "utf8" }).trim();
}

const obstacle = mountObstacle();

describe.skipIf(obstacle !== null)(
  `a disk that is full${obstacle === null ? "" : ` (skipped: ${obstacle})`}`,
  () => {
    it.each(["a bundle", "content beside it"])(
      "stops recording %s with an infra event; the session goes on, and so does recording once there is room",
      async (what) => {
        const folder = scratch();
        execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k", "shinken-test", folder]);
        onTestFinished(() => {
          execFileSync("umount", ["--lazy", folder]);
        });
        const into = recorder({ folder });
        const environment = recordedEcho(into);
        const codes: string[] = [];
        environment.onEvent((event) => {
          if (event.event === "infra") codes.push(event.code);
        });
        const noise = (length: number) =>
          Array.from({ length }, () => Math.random().toString(36).slice(2, 12)).join("");
        await environment.reset();
        let steps = 0;
        for (; codes.length === 0; steps += 1) {
          await environment.step([say(noise(what === "a bundle" ? 300 : 6_000))]);
          if (steps > 5_000) throw new Error("the disk never got full");
        }
        expect(codes).toEqual(["disk_full"]);
        expect((await environment.step([say("on")])).info).toMatchObject({ step: steps + 1 });
        const broken = bundles(folder)[0] ?? "";
        const { end, steps: kept } = await readBundle(broken);
        expect(end.finished).toBe(false);
        expect(kept.length).toBeGreaterThan(1);
        // A writer that stopped cuts off what did not fit: there is not one byte that is not a whole record's.
        expect((await check(broken)).map(({ status }) => status)).toEqual(["unfinished"]);

        execFileSync("mount", ["-o", "remount,size=8m", folder]);
        await environment.reset();
        await environment.step([say("again")]);
        await environment.close();
        expect(codes).toHaveLength(1);
        expect(await againstIndex(folder)).toEqual({ equal: 1, wrong: [] });
        expect((await recover(folder)).map(({ status }) => status).sort()).toEqual(["finished", "recovered"]);
      },
    );
  },
);

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

describe("serve", () => {
  it("records into the state folder by default, and shows what became of it in its metrics", async () => {
    const state = scratch();
    mkdirSync(state, { recursive: true });
    const server = startCli(["serve", "--port", "0", "--json", "--log-level", "silent"], {
      env: { SHINKEN_STATE: state },
    });
    children.add(server);
    const url = await new Promise<string>((resolve) => {
      server.stdout.once("data", (text: Buffer) => {
        resolve((JSON.parse(text.toString()) as { url: string }).url);
      });
    });
    const client = await connect(url);
    for (let each = 0; each < 2; each += 1) {
      const session = await client.create({ environment: "echo" });
      await session.reset();
      await session.step([say("a")]);
      if (each === 0) await session.close();
    }
    const metrics = await (await fetch(`${url.replace("ws:", "http:")}/metrics`)).text();
    for (const line of [
      "shinken_bundles_open 1",
      'shinken_bundles_total{outcome="finished"} 1',
      'shinken_bundles_total{outcome="failed"} 0',
    ])
      expect(metrics).toContain(line);
    expect(metrics).toMatch(/shinken_bundle_bytes_total [1-9]/);
    expect(metrics).toMatch(/shinken_recorder_queued \d/);
    await client.close();
    server.kill("SIGTERM");
    await new Promise((resolve) => server.once("close", resolve));
    const folder = join(state, "replays");
    expect((await againstIndex(folder)).equal).toBe(2);
  });

  it("takes a budget for the default folder only", async () => {
    const { code, stderr } = await cli([
      "serve",
      "--port",
      "0",
      "--record",
      scratch(),
      "--record-budget",
      "10",
    ]);
    expect(code).toBe(2);
    expect(stderr).toContain("--record-budget");
  });
});
