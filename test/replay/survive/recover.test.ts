import { existsSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { check, readIndex, recover } from "../../../src/replay/index.js";
import { cli } from "../../support/cli.js";
import { until } from "../../support/wire-server.js";
import { cutBundle, finishedBundle, viaSummary } from "../support/finished.js";
import {
  againstIndex,
  eventsOf,
  filesOf,
  recordedEcho,
  recorder,
  say,
  scratch,
} from "../support/recording.js";

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
