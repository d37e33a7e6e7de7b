/** Several processes on one store: readers beside a writer, writers that are killed, writers at the same time. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import { afterAll, describe, expect, it } from "vitest";
import { openRunStore } from "../../../src/rollout/store/index.js";
import { lock, newFolder } from "./support.js";

const script = fileURLToPath(new URL("writer.mjs", import.meta.url));
const folder = newFolder();
afterAll(() => rmSync(folder, { recursive: true }));

/** How often a writer is killed. */
const kills = 25;

interface Writer {
  child: ChildProcess;
  /** Replicas that the writer said are stored. */
  said: number[];
  /** Waits for the next line that it says. */
  next: () => Promise<unknown>;
  kill: () => Promise<void>;
}

function startWriter(path: string, run: string, first: number): Writer {
  const child = spawn(process.execPath, [script, path, run, String(first)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const said: number[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => said.push(Number(line)));
  return {
    child,
    said,
    next: () => once(lines, "line"),
    async kill() {
      const closed = once(lines, "close");
      child.kill("SIGKILL");
      await closed;
    },
  };
}

describe("a run store whose writer is killed", () => {
  it(`is whole each of ${kills} times, holds what was acknowledged, and is written on`, async () => {
    const path = join(folder, "killed.db");
    const setup = openRunStore(path);
    const run = setup.begin(lock);
    setup.close();
    const acknowledged: number[] = [];
    let stored = 0;
    for (let kill = 0; kill < kills; kill += 1) {
      const writer = startWriter(path, run, stored);
      await writer.next();
      await sleep(Math.random() * 30);
      await writer.kill();
      acknowledged.push(...writer.said);
      const raw = new Database(path);
      expect(raw.pragma("integrity_check", { simple: true })).toBe("ok");
      expect(raw.pragma("foreign_key_check")).toEqual([]);
      const half = raw.prepare(
        "SELECT count(*) FROM episodes LEFT JOIN verdicts USING (episode) WHERE by IS NULL",
      );
      expect(half.pluck().get()).toBe(0);
      raw.close();
      const store = openRunStore(path, { readonly: true });
      const replicas = store.episodes(run).map(({ replica }) => replica);
      store.close();
      expect(replicas).toEqual(replicas.map((_, index) => index));
      expect(new Set(replicas)).toEqual(new Set([...replicas, ...acknowledged]));
      // At most the one that was being acknowledged.
      expect(replicas.length - acknowledged.length).toBeLessThanOrEqual(kill + 1);
      stored = replicas.length;
    }
    expect(stored).toBeGreaterThanOrEqual(kills);
  });
});

describe("a run store that is being written", () => {
  it("is read by two others meanwhile, each of whom sees all that was acknowledged before", async () => {
    const path = join(folder, "read.db");
    const setup = openRunStore(path);
    const run = setup.begin(lock);
    const writer = startWriter(path, run, 0);
    const readers = [openRunStore(path, { readonly: true }), openRunStore(path, { readonly: true })];
    try {
      for (let round = 0; round < 20; round += 1) {
        await writer.next();
        const least = writer.said.length;
        for (const reader of readers) {
          const seen = reader.run(run)?.episodes ?? 0;
          expect(seen).toBeGreaterThanOrEqual(least);
          expect(reader.episodes(run).length).toBeGreaterThanOrEqual(seen);
        }
      }
    } finally {
      await writer.kill();
      for (const store of [...readers, setup]) store.close();
    }
  });

  it("takes the rows of two writers, and loses none", async () => {
    const path = join(folder, "both.db");
    const store = openRunStore(path);
    const writers = ["one", "two"].map((id) => startWriter(path, store.begin(lock, {}, "played", id), 0));
    while (writers.some(({ said }) => said.length < 50)) await sleep(5);
    await Promise.all(writers.map((writer) => writer.kill()));
    for (const [index, id] of ["one", "two"].entries()) {
      const replicas = store.episodes(id).map(({ replica }) => replica);
      expect(replicas).toEqual(expect.arrayContaining(writers[index]?.said ?? []));
      expect(replicas).toEqual(replicas.map((_, place) => place));
    }
    store.close();
  });
});
