/** Two nodes as processes, with machines and cache folders of their own: one gets its golden from the other. */
import type { ChildProcess } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { loadTasks } from "../../../src/env/index.js";
import { cacheLayout } from "../../../src/images/cache/folder.js";
import {
  collectEvaluation,
  goldenOf,
  openQueue,
  submitEvaluation,
} from "../../../src/rollout/queue/index.js";
import { publishedScorers } from "../../../src/suites/index.js";
import { finished, root, startCli } from "../../support/cli.js";

const token = "token-of-the-two-nodes";

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "shinken-two-nodes-"));
  cleanups.push(() => {
    rmSync(path, { recursive: true, force: true });
  });
  return path;
}

/** A cache folder with the images of this host, and no golden. */
function emptyCache(): string {
  const cache = folder();
  symlinkSync(cacheLayout(undefined).images, join(cache, "images"));
  return cache;
}

async function rig() {
  const tasks = join(folder(), "tasks");
  cpSync(join(root, "tasks", "demo", "clean-cache"), join(tasks, "clean-cache"), { recursive: true });
  const set = await loadTasks(tasks, { scorers: publishedScorers });
  const address = `sqlite:${join(folder(), "queue.db")}`;
  const queue = await openQueue(address);
  cleanups.push(() => queue.close());
  const start = (node: string, cache: string, words: readonly string[] = [], secret = token) => {
    const common = ["worker", "--queue", address, "--tasks", tasks, "--node", node, "--concurrency", "1"];
    const env = { SHINKEN_STATE: folder(), SHINKEN_CACHE: cache, SHINKEN_GOLDEN_TOKEN: secret };
    const child = startCli([...common, "--json", ...words], { env });
    cleanups.push(() => {
      child.kill("SIGKILL");
    });
    return { child, end: finished(child) };
  };
  const submit = (replicas: number) =>
    submitEvaluation(queue, { tasks: set.tasks, digest: set.digest, operator: "null", replicas, seed: 7 });
  const play = async (replicas: number) => {
    const run = await submit(replicas);
    const keep = () => Promise.resolve();
    return collectEvaluation(queue, { run, tasks: set.tasks, digest: set.digest, kept: [], keep });
  };
  /** Until a node has told where it gives goldens, and that it has one. */
  const offered = () =>
    until(async () => (await queue.nodes()).some(({ url, goldens }) => url && goldens[0]));
  const names = set.tasks.map((task) => goldenOf(task.variant()));
  return { queue, start, submit, play, offered, names };
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 50));
}

interface Drained {
  acknowledged: number;
  goldens: { fetched: number; fetched_bytes: number; failed: number; made: number; given: number };
}

async function drained({ child, end }: { child: ChildProcess; end: ReturnType<typeof finished> }) {
  child.kill("SIGTERM");
  const { code, stdout, stderr } = await end;
  expect(code, stderr).toBe(0);
  return { tally: JSON.parse(stdout) as Drained, stderr };
}

const goldensIn = (cache: string): string[] =>
  readdirSync(join(cache, "goldens")).filter((name) => name.endsWith(".golden"));

/** Process ids. */
const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);

const giving = ["--golden-address", "127.0.0.1:0"];

describe("a node that lacks the golden of its job", () => {
  it("gets it from the node that holds it since before it started, and makes none", async () => {
    const { queue, start, play, offered } = await rig();
    const [full, empty] = [emptyCache(), emptyCache()];
    const maker = start("maker", full);
    expect((await play(1)).total).toMatchObject({ n: 1, ungraded: 0 });
    const made = await drained(maker);
    expect(made.tally).toMatchObject({ acknowledged: 1, goldens: { fetched: 0, made: 1, given: 0 } });
    // The image's golden and the task's.
    expect(goldensIn(full)).toHaveLength(2);

    const holder = start("holder", full, giving);
    await offered();
    const fetcher = start("fetcher", empty);
    await until(async () => (await queue.nodes()).some(({ node }) => node === "fetcher"));
    expect((await play(6)).total).toMatchObject({ n: 6, ungraded: 0 });
    const [gave, got] = [await drained(holder), await drained(fetcher)];
    expect(got.tally.acknowledged).toBeGreaterThan(0);
    expect(gave.tally.acknowledged + got.tally.acknowledged).toBe(6);
    expect(gave.tally.goldens).toMatchObject({ fetched: 0, made: 0, given: 1 });
    expect(got.tally.goldens).toMatchObject({ fetched: 1, failed: 0, made: 0 });
    expect(got.stderr).toMatch(/fetched from http:\S+, \d+ MiB in [\d.]+ s, \d+ MB\/s/);
    // Who makes the task's golden has the image's, too.
    expect(goldensIn(empty)).toHaveLength(1);
    expect(goldensIn(full)).toEqual(expect.arrayContaining(goldensIn(empty)));
    expect(readdirSync(join(empty, "goldens")).filter((name) => name.includes(".tmp."))).toEqual([]);
  });

  it("makes it where no node gives it, and says so", async () => {
    const { queue, start, play, names } = await rig();
    const empty = emptyCache();
    // It announces what it does not have, at an address where nothing listens.
    await queue.announce({ node: "liar", url: "http://127.0.0.1:1", goldens: names });
    const lonely = start("lonely", empty);
    expect((await play(1)).total).toMatchObject({ n: 1, ungraded: 0 });
    const { tally, stderr } = await drained(lonely);
    expect(tally.goldens).toMatchObject({ fetched: 0, failed: 1, made: 1 });
    expect(stderr).toContain("none of 1 nodes gave it; it is made here");
    expect(goldensIn(empty)).toHaveLength(2);
  });
});

describe("a node whose own server dies", () => {
  it("stops with exit code 3 and gives back what it had", async () => {
    const { queue, start, submit } = await rig();
    const { child, end } = start("headless", cacheLayout(undefined).folder);
    await submit(1);
    await until(async () => (await queue.stats()).leased === 1);
    const server = childrenOf(child.pid ?? 0);
    expect(server).toHaveLength(1);
    process.kill(server[0] ?? 0, "SIGKILL");
    const { code, stderr } = await end;
    expect(code).toBe(3);
    expect(stderr).toContain("own server has died (SIGKILL)");
    const { waiting, delayed, leased, dead } = await queue.stats();
    expect({ left: waiting + delayed, leased, dead }).toEqual({ left: 1, leased: 0, dead: 0 });
  });
});
