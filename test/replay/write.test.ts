import { type Worker } from "node:worker_threads";
import { execFileSync } from "node:child_process";
import { closeSync, openSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { EnvironmentEvent } from "../../src/env/environment.js";
import { readBundle, Recorder } from "../../src/replay/index.js";
import { ScriptedEnvironment } from "../support/scripted-environment.js";
import { until } from "../support/wire-server.js";
import {
  againstIndex,
  bundles,
  eventsOf,
  filesOf,
  outline,
  recorded,
  recordedEcho,
  recorder,
  say,
  scratch,
} from "./support/recording.js";

function infraEvents(environment: ReturnType<typeof recordedEcho>): string[] {
  const codes: string[] = [];
  environment.onEvent((event: EnvironmentEvent) => {
    if (event.event === "infra") codes.push(event.code);
  });
  return codes;
}

/** Threads that are started while the test runs. */
function threads(): Worker[] {
  const started: Worker[] = [];
  const note = (worker: Worker) => started.push(worker);
  process.on("worker", note);
  onTestFinished(() => {
    process.off("worker", note);
  });
  return started;
}

const descriptors = (): string[] => readdirSync("/proc/self/fd");

describe("the recorder", () => {
  it("stops with an infra event when its thread dies, the session goes on, and the next episode is recorded", async () => {
    const started = threads();
    const into = recorder();
    const environment = recordedEcho(into);
    const codes = infraEvents(environment);
    await environment.reset();
    for (const text of ["a", "b", "c"]) await environment.step([say(text)]);
    await started[0]?.terminate();
    await until(() => codes.length > 0);
    expect(codes).toEqual(["recording_failed"]);
    const after = await environment.step([say("d")]);
    expect(after.info).toMatchObject({ step: 4 });
    expect(into.stats()).toMatchObject({ open: 0, failed: 1, queued: 0 });
    const [broken = ""] = bundles(into.folder);
    const { steps, end } = await readBundle(broken);
    expect(end.finished).toBe(false);
    expect(steps.filter(({ observation }) => observation !== null).length).toBeGreaterThanOrEqual(2);

    await environment.reset();
    await environment.step([say("again")]);
    await environment.close();
    expect(started).toHaveLength(2);
    expect(codes).toHaveLength(1);
    expect(await againstIndex(into.folder)).toEqual({ equal: 1, wrong: [] });
  });

  it.each<[string, unknown]>([
    ["cannot be cloned", () => 1],
    ["cannot be encoded", 1n << 70n],
    ["is nested too deep", Array.from({ length: 200 }).reduce((inner) => [inner], 0)],
    [
      "holds itself",
      (() => {
        const ring: Record<string, unknown> = {};
        ring["self"] = ring;
        return ring;
      })(),
    ],
  ])("lets a value that %s stop its own recording only", async (_name, value) => {
    const into = recorder();
    const [bad, good] = [recordedEcho(into), recordedEcho(into)];
    const codes = { bad: infraEvents(bad), good: infraEvents(good) };
    await Promise.all([bad.reset(), good.reset()]);
    await Promise.all([bad.step([say("a")], { output: value }), good.step([say("a")])]);
    await Promise.all([bad.step([say("b")]), good.step([say("b")])]);
    await until(() => codes.bad.length > 0);
    await bad.step([say("c")]);
    await Promise.all([bad.close(), good.close()]);
    expect(codes).toEqual({ bad: ["recording_failed"], good: [] });
    expect(into.stats()).toMatchObject({ open: 0, finished: 1, failed: 1 });
    expect(await againstIndex(into.folder)).toEqual({ equal: 1, wrong: [] });
    // What the broken one had until then is a clean prefix, and nobody holds its file any more.
    for (const path of bundles(into.folder)) await eventsOf(path);
    expect(filesOf(into.folder).filter((path) => path.endsWith(".lock"))).toEqual([]);
  });

  it("leaves nothing behind: no thread, no file that is open, no lock and no draft", async () => {
    const started = threads();
    const before = descriptors();
    const folder = scratch();
    const into = new Recorder({ folder, runtime: "test/1" });
    const environments = Array.from({ length: 5 }, () => recordedEcho(into));
    for (const environment of environments) {
      await environment.reset();
      await environment.step([say("x".repeat(40_000))]);
    }
    await Promise.all(environments.map((environment) => environment.close()));
    await into.close();
    expect(started).toHaveLength(1);
    expect(started[0]?.threadId).toBe(-1);
    await until(() => descriptors().length <= before.length);
    const names = filesOf(folder).map((path) => path.replace(/.*\//, ""));
    expect(names.filter((name) => !/^([0-9a-f]{64}|index\.jsonl|.*\.skn)$/.test(name))).toEqual([]);
    expect(names.filter((name) => name.length === 64)).toHaveLength(1);
  });

  it("finishes what is open when it is closed, and takes nothing afterwards", async () => {
    const into = recorder();
    const environment = recordedEcho(into);
    const codes = infraEvents(environment);
    await environment.reset();
    await environment.step([say("a")]);
    await into.close();
    expect((await againstIndex(into.folder)).equal).toBe(1);
    await environment.step([say("b")]);
    await environment.reset();
    expect(codes).toEqual(["recording_failed"]);
    await environment.close();
    expect(bundles(into.folder)).toHaveLength(1);
  });

  it("keeps equal content once, whichever session it came from, and a text's changes without the text", async () => {
    const into = recorder();
    const page = Array.from({ length: 3_000 }, (_, at) => `row ${at}`).join("\n");
    const environments = [recordedEcho(into), recordedEcho(into)];
    for (const environment of environments) {
      await environment.reset();
      await environment.step([say(page)]);
      await environment.step([say(`${page}\nand one more row`)]);
    }
    const files = environments.map((environment) => environment.bundle?.file ?? "");
    await Promise.all(environments.map((environment) => environment.close()));
    const blobs = filesOf(into.folder).filter((path) => path.includes("/blobs/"));
    // The page, twice an action's and once an observation's; and the longer page as an action alone.
    expect(blobs).toHaveLength(2);
    for (const file of files) {
      const events = await eventsOf(join(into.folder, file));
      expect(outline(events)).toContain("observation 2");
      expect(events.find(({ channel, step }) => channel === "observation" && step === 2)).toMatchObject({
        observation: { results: [{ text: `${page}\nand one more row` }] },
      });
    }
  });

  it("starts an index line anew where a full disk had cut the last one short", async () => {
    const into = recorder();
    writeFileSync(join(into.folder, "index.jsonl"), '{"file":"half/a.skn","by');
    const environment = recordedEcho(into);
    await environment.reset();
    await environment.close();
    expect(await againstIndex(into.folder)).toEqual({ equal: 1, wrong: [] });
  });

  it("gives up a disk that takes nothing for a while, and the session goes on", async () => {
    const started = threads();
    // As long as the thread itself starts, nothing is taken.
    const into = recorder({ stallMs: 1 });
    const environment = recordedEcho(into);
    const codes = infraEvents(environment);
    await environment.reset();
    await environment.step([say("a")]);
    await environment.step([say("b")]);
    await until(() => codes.length > 0);
    expect((await environment.step([say("c")])).info).toMatchObject({ step: 3 });
    await environment.close();
    expect(codes).toEqual(["recording_failed"]);
    expect(into.stats()).toMatchObject({ open: 0, failed: 1, queued: 0 });
    await until(() => started.every(({ threadId }) => threadId === -1));
  });

  it("gives up a disk that never says that it has a finished file, and the session closes", async () => {
    const into = recorder({ stallMs: 3_000 });
    const environment = recordedEcho(into);
    const codes = infraEvents(environment);
    await environment.reset();
    // Answered once the thread has the reset.
    await environment.step([say("a")]);
    await until(() => into.stats().queued === 0);
    // Whoever opens a pipe without a writer waits, and with all of them waiting no file is synchronized.
    const pipe = join(into.folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    const stuck = Array.from({ length: 4 }, () => open(pipe, "r"));
    onTestFinished(async () => {
      const writer = openSync(pipe, "w");
      for (const file of await Promise.all(stuck)) await file.close();
      closeSync(writer);
    });
    await environment.close();
    expect(codes).toEqual(["recording_failed"]);
  });

  it("stops with an infra event where its folder is gone, and the session goes on", async () => {
    const into = recorder();
    rmSync(into.folder, { recursive: true });
    writeFileSync(into.folder, "a file stands there");
    const environment = recorded(new ScriptedEnvironment("scripted"), into);
    const codes = infraEvents(environment);
    await environment.reset();
    await environment.step([say("a")]);
    await until(() => codes.length > 0);
    expect((await environment.step([say("b")])).info).toMatchObject({ done: 2 });
    await environment.close();
    expect(codes).toEqual(["recording_failed"]);
  });
});
