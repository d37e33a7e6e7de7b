import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadTasks, TaskEnvironmentFactory } from "../../src/env/index.js";
import type { LoadedTask } from "../../src/env/task/index.js";
import { oracleSteps } from "../../src/operator/index.js";
import { bundleFiles, readBundle, RecordedFactory, Recorder } from "../../src/replay/index.js";
import { type RegradedEpisode, type RegradeOptions, regrade } from "../../src/rollout/replays/index.js";
import { openRunStore } from "../../src/rollout/store/index.js";
import { closePool, type Verdict } from "../../src/verifiers/index.js";
import { cli } from "../support/cli.js";
import { machinesUnavailable, providerForFile } from "../support/machine.js";

const demo = fileURLToPath(new URL("../../tasks/demo", import.meta.url));
const ids = ["clean-cache", "csv-to-json"] as const;
const unavailable = await machinesUnavailable();
const provider = providerForFile();
const folder = mkdtempSync(join(tmpdir(), "shinken-regrade-"));
const runtime = "test/1";
/** What the sessions themselves said, by episode's task and operator. */
const said = new Map<string, Verdict>();
let tasks: LoadedTask[] = [];
let files: string[] = [];

/** A copy of the tasks whose text was changed. */
async function changed(name: string, change: (text: string) => string): Promise<LoadedTask[]> {
  const copy = join(folder, name);
  for (const id of ids) cpSync(join(demo, id), join(copy, id), { recursive: true });
  const path = join(copy, ids[0], "task.yaml");
  const text = readFileSync(path, "utf8");
  expect(change(text)).not.toBe(text);
  writeFileSync(path, change(text));
  return [...(await loadTasks(copy)).tasks];
}

function grade(options: Partial<RegradeOptions> = {}): Promise<RegradedEpisode[]> {
  const all = { files, played: tasks, graders: [tasks], provider: provider(), concurrency: 2, runtime };
  return regrade({ ...all, ...options });
}

beforeAll(async () => {
  if (unavailable !== null) return;
  tasks = [...(await loadTasks(demo)).tasks].filter(({ id }) => (ids as readonly string[]).includes(id));
  const factory = new TaskEnvironmentFactory({ provider: provider(), tasks });
  const facts = { provider: "microvm", machineAbi: provider().machineAbi, memory: null, taskSet: null };
  for (const operator of ["oracle", "done"] as const) {
    // Of the solved ones the machine in which they end is kept, too.
    const recorder = new Recorder({ folder: join(folder, "runs"), runtime, states: operator === "oracle" });
    const recorded = new RecordedFactory(factory, recorder, facts);
    for (const task of tasks) {
      const session = await recorded.create(task.id, { labels: { operator } });
      await session.reset(operator === "oracle" ? { seed: 7 } : {});
      const steps = operator === "oracle" ? oracleSteps(task.variant({ seed: 7 })) : [[{ type: "done" }]];
      for (const actions of steps) await session.step(actions);
      said.set(`${task.id} ${operator}`, await session.evaluate());
      await session.close();
    }
    await recorder.close();
  }
  factory.close();
  files = await bundleFiles([join(folder, "runs")]);
});
afterAll(async () => {
  await closePool();
  rmSync(folder, { recursive: true });
});

describe.skipIf(unavailable !== null)("recorded episodes that are graded again", () => {
  it("get the verdict that their own session gave, seeded or not", async () => {
    const graded = await grade();
    expect(graded).toHaveLength(2 * ids.length);
    for (const { file, lines, error } of graded) {
      expect(error).toBeNull();
      const { session } = await readBundle(file);
      const { verifierVersion, taskVersion, status, score, passed, checks } =
        said.get(`${session.task} ${String(session.labels["operator"])}`) ?? expect.fail("no verdict");
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatchObject({ verifier: verifierVersion, task_version: taskVersion });
      expect(lines[0]?.by).toBe(session.labels["operator"] === "oracle" ? "state" : "rerun");
      expect(lines[0]?.verdict).toMatchObject({ status, score, passed });
      const evidence = checks.map(({ id, status: how, evidence: seen }) => ({
        id,
        status: how,
        evidence: seen,
      }));
      expect(lines[0]?.verdict.checks).toMatchObject(evidence);
    }
    expect(new Set(graded.map(({ lines }) => lines[0]?.verdict.passed))).toEqual(new Set([true, false]));
  });

  it("get the same bytes again from the same verifier", async () => {
    const [once, twice] = [await grade(), await grade({ concurrency: 1 })];
    expect(JSON.stringify(twice)).toBe(JSON.stringify(once));
    expect(provider().openMachines()).toBe(0);
  });

  it("get the same verdict from the machine that was kept and from one that was run again", async () => {
    const [kept, again] = [await grade(), await grade({ rerun: true })];
    const verdicts = (graded: RegradedEpisode[]) => graded.map(({ lines }) => lines[0]?.verdict);
    expect(verdicts(kept)).toEqual(verdicts(again));
    expect(again.every(({ lines }) => lines[0]?.by === "rerun")).toBe(true);
  });

  it("are graded by several verifiers on one end state", async () => {
    const stricter = await changed("stricter", (text) => text.replace(/^version: .*$/m, "version: 99.0.0"));
    for (const { lines } of await grade({ graders: [tasks, stricter] })) {
      const [one, other] = lines;
      expect(lines).toHaveLength(2);
      expect(other?.verdict).toMatchObject({ passed: one?.verdict.passed, score: one?.verdict.score });
      if (one?.task === ids[0]) expect(other?.task_version).toBe("99.0.0");
    }
  });

  it("are ungraded, and say why, where the task begins otherwise now", async () => {
    const moved = await changed("moved", (text) =>
      text.replace(/^setup:\n/m, "setup:\n  - exec: {argv: [touch, /tmp/changed]}\n"),
    );
    const graded = await grade({ played: moved, graders: [moved] });
    const reasons = graded.map(({ task, lines }) => [task, lines[0]?.verdict.reason ?? null]);
    expect(reasons.filter(([task]) => task === ids[1])).toEqual([
      [ids[1], null],
      [ids[1], null],
    ]);
    for (const [task, reason] of reasons)
      if (task === ids[0]) expect(reason).toMatch(/not_repeatable: at step 0 the state differs/);
    // With the tasks as they were beside them, the new verifier can say what it thinks.
    const beside = await grade({ played: tasks, graders: [moved] });
    expect(beside.every(({ lines }) => lines[0]?.verdict.status === "graded")).toBe(true);
  });

  it("are ungraded where the last step was cancelled, and no machine of that moment is kept", async () => {
    const factory = new TaskEnvironmentFactory({ provider: provider(), tasks });
    const recorder = new Recorder({ folder: join(folder, "cut"), runtime, states: true });
    const { machineAbi } = provider();
    const facts = { provider: "microvm", machineAbi, memory: null, taskSet: null };
    const session = await new RecordedFactory(factory, recorder, facts).create(ids[0]);
    await session.reset({ seed: 7 });
    await session.step([{ type: "exec", command: "echo a" }]);
    const late = session.step([{ type: "exec", command: "sleep 1000" }]);
    setImmediate(() => session.cancel());
    await expect(late).rejects.toMatchObject({ code: "cancelled" });
    await session.close();
    await recorder.close();
    factory.close();
    const cut = await bundleFiles([join(folder, "cut")]);
    const { steps } = await readBundle(cut[0] ?? "");
    expect(steps.map(({ snapshot }) => snapshot?.pages ?? null)).toEqual([null, null]);
    const [graded] = await grade({ files: cut });
    expect(graded?.lines[0]?.verdict).toMatchObject({ status: "ungraded", score: null });
    expect(graded?.lines[0]?.verdict.reason).toContain("step 2 was cancelled");
  });

  it("are left out where the store knows them, and a run that was cut short goes on", async () => {
    const path = join(folder, "resumed.db");
    const add = (graded: RegradedEpisode[]): void => {
      const store = openRunStore(path);
      for (const { lines } of graded) for (const line of lines) store.addGrading(line);
      store.close();
    };
    const first = await grade({ files: files.slice(0, 2) });
    add(first);
    const store = openRunStore(path, { readonly: true });
    const known = store.gradingKeys();
    expect(known.size).toBe(2);
    const rest = await grade({ known });
    expect(rest.map(({ skipped }) => skipped)).toEqual([true, true, false, false]);
    add(rest);
    expect(store.gradings()).toEqual([...first, ...rest].flatMap(({ lines }) => lines));
    expect(store.gradings()).toHaveLength(files.length);
    store.close();
  });

  it("that cannot be read are named, and the others are graded all the same", async () => {
    const [file = "", other = ""] = files;
    const whole = readFileSync(file);
    // In a chunk, and in what follows the events, which only the whole file's hash covers.
    for (const at of [0.05, 0.95]) {
      const bytes = Buffer.from(whole);
      bytes.writeUInt8(bytes.readUInt8(Math.floor(bytes.length * at)) ^ 0xff, Math.floor(bytes.length * at));
      writeFileSync(file, bytes);
      const [bad, good] = await grade({ files: [file, other] });
      expect(bad).toMatchObject({ file, lines: [], error: { code: "bad_bundle" } });
      expect(good?.lines).toHaveLength(1);
    }
    writeFileSync(file, whole);
  });
});

describe.skipIf(unavailable !== null)("the machine of an episode that held a secret", () => {
  it.each([
    ["was named when the session was made", { secrets: { values: ["swordfish-1"] } }, {}],
    ["came by in an action", {}, { API_TOKEN: "swordfish-2" }],
  ])("which %s is not kept", async (_when, options, env) => {
    const runs = mkdtempSync(join(folder, "secret-"));
    const recorder = new Recorder({ folder: runs, runtime, states: true });
    const factory = new TaskEnvironmentFactory({ provider: provider(), tasks });
    const facts = { provider: "microvm", machineAbi: provider().machineAbi, memory: null, taskSet: null };
    const session = await new RecordedFactory(factory, recorder, facts).create(ids[0], options);
    await session.reset();
    await session.step([{ type: "exec", argv: ["true"], env }]);
    await session.evaluate();
    await session.close();
    await recorder.close();
    factory.close();
    const [file = ""] = await bundleFiles([runs]);
    const { steps } = await readBundle(file);
    expect(steps.at(-1)?.snapshot).toMatchObject({ step: 1, pages: null });
  });
});

describe.skipIf(unavailable !== null)("shinken replay regrade", () => {
  it("adds to the run store, the same bytes for the same verifier, and says what it did", async () => {
    const runs = join(folder, "runs");
    const path = join(folder, "state", "runs.db");
    const words = ["replay", "regrade", runs, "--verifier", demo, "--store", path, "--json"];
    const first = await cli(words);
    expect(first.code).toBe(0);
    const store = openRunStore(path, { readonly: true });
    expect(JSON.parse(first.stdout)).toMatchObject({
      episodes: 4,
      passed: 2,
      failed: 2,
      ungraded: 0,
      skipped: 0,
      unreadable: 0,
      store: store.path,
    });
    const gradings = store.gradings();
    expect(gradings.map(({ file }) => file).sort()).toEqual([...files].sort());
    const again = await cli(words);
    expect(JSON.parse(again.stdout)).toMatchObject({ episodes: 4, skipped: 4, passed: 0 });
    expect(store.gradings()).toEqual(gradings);
    const { stdout } = await cli([...words, "--again"]);
    expect(JSON.parse(stdout)).toMatchObject({ episodes: 4, skipped: 0, passed: 2 });
    const texts = store.gradings().map(({ episode, verdict }) => `${episode} ${JSON.stringify(verdict)}`);
    expect(texts).toHaveLength(2 * gradings.length);
    expect(new Set(texts).size).toBe(gradings.length);
    store.close();
  });

  it("is what `verifier diff` stands on, over recorded episodes", async () => {
    await changed("lenient", (text) => text.replace(/^version: .*$/m, "version: 98.0.0"));
    const same = await cli(["verifier", "diff", demo, demo, join(folder, "runs"), "--json"]);
    expect(JSON.parse(same.stdout)).toMatchObject({ compared: 0, same_task: 4, changed: [] });
    expect(same.code).toBe(0);
    const other = await cli([
      "verifier",
      "diff",
      demo,
      join(folder, "lenient"),
      join(folder, "runs"),
      "--json",
    ]);
    expect(JSON.parse(other.stdout)).toMatchObject({ compared: 2, same_task: 2, changed: [] });
  });
});
