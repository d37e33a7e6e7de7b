/** Bundles and reports into the store, and out of it again. */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { bundleFiles, readBundle } from "../../../src/replay/index.js";
import {
  exportRuns,
  importBundles,
  importReported,
  leaderboard,
  openRunStore,
  type RunStore,
} from "../../../src/rollout/store/index.js";
import type { BundleEpisode } from "../../../src/rollout/store/import/bundle-episode.js";
import { placed } from "../../../src/rollout/store/import/place.js";
import { readJsonLines, readParquet } from "../../replay/export/reading.js";
import { graded, grading, lock, newFolder, ungraded } from "./support.js";

const here = dirname(fileURLToPath(import.meta.url));
const bundles = join(here, "..", "..", "replay", "export", "golden", "bundles");
const folder = newFolder();
afterAll(() => rmSync(folder, { recursive: true }));

let stores = 0;
async function withStore(test: (store: RunStore) => Promise<void>): Promise<void> {
  const store = openRunStore(join(folder, `${(stores += 1)}.db`));
  try {
    await test(store);
  } finally {
    store.close();
  }
}

describe("a folder of bundles", () => {
  it("becomes runs, with the verdicts and hashes that the bundles hold", async () => {
    await withStore(async (store) => {
      const report = await importBundles(store, [bundles]);
      expect(report).toMatchObject({ files: 4, known: 0, branches: 1, conflicts: [], unreadable: [] });
      const stored = report.runs.flatMap(({ run }) => store.episodes(run));
      expect(stored).toHaveLength(3);
      for (const one of stored) {
        const { session, end, verdicts } = await readBundle(one.file ?? "");
        expect(one).toMatchObject({
          episode: session.episode,
          task: session.task,
          taskVersion: session.task_version,
          sha256: end.sha256,
          provenance: "recorded",
          status: verdicts.at(-1)?.verdict.status ?? "ungraded",
          score: verdicts.at(-1)?.verdict.score ?? null,
        });
      }
      expect(store.runs().every(({ source, status }) => source === "imported" && status === "finished")).toBe(
        true,
      );
    });
  });

  it("adds nothing when it is imported again, and only what is new when it has grown", async () => {
    await withStore(async (store) => {
      const [first = "", ...others] = await bundleFiles([bundles]);
      await importBundles(store, [first]);
      const grown = await importBundles(store, [bundles]);
      const again = await importBundles(store, [bundles]);
      expect(again).toMatchObject({ files: others.length + 1, known: 3, runs: [] });
      expect(grown.known).toBeLessThanOrEqual(1);
      expect(store.runs().reduce((sum, { episodes }) => sum + episodes, 0)).toBe(3);
    });
  });

  it("is told apart from another that says something else of the same episode", async () => {
    await withStore(async (store) => {
      await importBundles(store, [bundles]);
      const copy = join(folder, "copy");
      cpSync(bundles, copy, { recursive: true });
      expect((await importBundles(store, [copy])).known).toBe(3);
      const [file = ""] = (await bundleFiles([copy])).filter((path) => path.includes("letters"));
      writeFileSync(file, readFileSync(file).subarray(0, -40));
      const report = await importBundles(store, [copy, join(here, "golden", "v1.db")]);
      expect(report.conflicts.length + report.unreadable.length).toBe(2);
      expect(store.runs().reduce((sum, { episodes }) => sum + episodes, 0)).toBe(3);
    });
  });
});

describe("an imported episode", () => {
  const coming = (replica: number | null, began: number, status: "graded" | "ungraded"): BundleEpisode => {
    const one = status === "graded" ? graded("a", 0, 1) : ungraded("a", 0);
    return { ...one, episode: `at ${began}`, replica, began, model: null };
  };
  const places = (...of: Parameters<typeof placed>) =>
    placed(...of).map(({ episode, replica, attempt }) => [episode, replica, attempt]);

  it("is the next attempt at a replica that was not graded, in the order in which they began", () => {
    expect(places([], [coming(0, 3, "graded"), coming(0, 1, "ungraded"), coming(0, 2, "ungraded")])).toEqual([
      ["at 1", 0, 0],
      ["at 2", 0, 1],
      ["at 3", 0, 2],
    ]);
  });

  it("is a replica of its own where its number is taken, or where it has none", () => {
    const there = [{ task: "a", replica: 0, attempt: 0, status: "graded" as const }];
    expect(
      places(there, [coming(0, 1, "graded"), coming(null, 2, "graded"), coming(1, 3, "graded")]),
    ).toEqual([
      ["at 3", 1, 0],
      ["at 1", 2, 0],
      ["at 2", 3, 0],
    ]);
  });
});

describe("a report of results", () => {
  const report = {
    task_set: "published",
    operator: "somebody",
    model: "m-9",
    source: "https://example.org/results",
    results: [
      { task: "a", score: 1, passed: true },
      { task: "a", score: 0.5 },
      { task: "b", score: null, reason: "not run" },
    ],
  };
  let files = 0;
  const write = (value: unknown): string => {
    const path = join(folder, `report-${(files += 1)}.json`);
    writeFileSync(path, JSON.stringify(value));
    return path;
  };

  it("is stored as self-reported, once, and stands so in the leaderboard", async () => {
    await withStore(async (store) => {
      const path = write(report);
      const { run } = await importReported(store, path);
      expect(await importReported(store, path)).toEqual({ run, episodes: 3, made: false });
      expect(store.run(run)).toMatchObject({
        source: "reported",
        labels: { source: report.source },
        episodes: 3,
      });
      expect(store.episodes(run).every(({ provenance }) => provenance === "self_reported")).toBe(true);
      expect(leaderboard(store)).toMatchObject([
        { provenance: "self_reported", n: 2, ungraded: 1, passed: 1, judged: 1, score_mean: 0.75 },
      ]);
    });
  });

  it.each([
    [{ ...report, scafold: "x" }, "scafold", 'did you mean "scaffold"?'],
    [{ ...report, source: undefined }, "source", undefined],
    [{ ...report, results: [] }, "results", undefined],
    [{ ...report, results: [{ task: "a", score: 2 }] }, "results[0].score", undefined],
    [
      { ...report, results: [{ task: "a", score: 1, provenance: "recorded" }] },
      "results[0].provenance",
      undefined,
    ],
    [{ ...report, results: [{ task: "a", score: null, passed: true }] }, "results[0].passed", undefined],
    [
      { ...report, results: [1, 0].map((score) => ({ task: "a", replica: 3, score })) },
      "results[1].replica",
      undefined,
    ],
  ])(
    "that is wrong is refused with its place, and nothing of it is stored",
    async (wrong, path, suggestion) => {
      await withStore(async (store) => {
        await expect(importReported(store, write(wrong))).rejects.toMatchObject({
          code: "bad_request",
          path,
          ...(suggestion === undefined ? {} : { suggestion }),
        });
        expect(store.runs()).toEqual([]);
      });
    },
  );
});

describe("an export of runs", () => {
  it("has a row for each verdict on each attempt, the same in both containers", async () => {
    await withStore(async (store) => {
      const id = store.begin(lock, { night: true });
      const first = ungraded("a", 0);
      const last = graded("a", 0, 0.5, { attempt: 1 });
      store.add(id, first);
      store.add(id, last);
      store.addGrading(grading(last.episode, 1));
      const paths = [".parquet", ".jsonl"].map((ending) => join(folder, `runs${ending}`));
      for (const path of paths) expect((await exportRuns(store, [id], path)).rows).toBe(3);
      const [columns, lines] = [await readParquet(paths[0] ?? ""), readJsonLines(paths[1] ?? "")];
      expect(lines).toMatchObject([
        { episode: first.episode, attempt: 0, counts: false, status: "ungraded", score: null, passed: null },
        {
          episode: last.episode,
          attempt: 1,
          counts: true,
          provenance: "recorded",
          score: 0.5,
          passed: false,
        },
        {
          episode: last.episode,
          counts: true,
          provenance: "regraded",
          score: 1,
          passed: true,
          verifier: "verifier-2",
        },
      ]);
      expect(lines[0]).toMatchObject({
        run: id,
        model: lock.model,
        task_set: lock.taskSet,
        run_status: null,
      });
      const numbers = (_key: string, value: unknown) => (typeof value === "bigint" ? Number(value) : value);
      expect(JSON.parse(JSON.stringify(columns, numbers))).toMatchObject(
        lines.map(({ run, episode, provenance, score, steps, counts }) => ({
          run,
          episode,
          provenance,
          score,
          steps,
          counts,
        })),
      );
      await expect(exportRuns(store, [id], join(folder, "runs.csv"))).rejects.toMatchObject({
        code: "bad_request",
      });
      expect(readdirSync(folder).filter((name) => name.endsWith(".part"))).toEqual([]);
    });
  });
});
