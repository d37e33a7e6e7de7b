/** The benchmarks' JSON is read by others: its keys, and what they mean. No figure is asserted. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { imageNames } from "../../src/images/index.js";
import { cli } from "../support/cli.js";

const number = expect.any(Number) as number;
const spread = { p50: number, p99: number };
const figures = {
  fork_us: spread,
  nested_fork_us: spread,
  nested_fork_pages: spread,
  ready_ms: spread,
  first_step_ms: spread,
  loaded: { first_ready_ms: number, bulk100_ms: number },
  bulk100_ms: number,
  bulk1000: { ms: number, rss_mib: number },
  step_true_ms: spread,
  checkpoint_us: spread,
  checkpoint_pages: spread,
  evaluate10_ms: spread,
  close_us: spread,
};

describe.skipIf(imageNames().every(({ name }) => name !== "shell"))(
  "bench, with the shell image that is in the cache,",
  () => {
    it("rollout-pull prints one object", { timeout: 120_000 }, async () => {
      const few = ["--effort", "0.02", "--pullers", "2"];
      const { code, stdout } = await cli(["bench", "rollout-pull", ...few, "--json"]);
      expect(code).toBe(0);
      const row = {
        ...{ warm_reset_ms: spread, cold_reset_ms: spread, ratio: number, pullers: 2 },
        ...{ pulled_episodes_per_s: number, created_episodes_per_s: number },
        ...{ pulled_reset_ms: spread, created_reset_ms: spread },
      };
      const host = expect.any(Object) as object;
      expect(JSON.parse(stdout)).toEqual({ host, echo: row, machine: row });
    });

    it("guest prints one object", async () => {
      const { code, stdout } = await cli(["bench", "guest", "--effort", "0.001", "--json"]);
      expect(code).toBe(0);
      const median = { p50: number };
      const mix = {
        ...{ mips: median, true_ms: median, python_ms: median },
        ...{ git_status_ms: median, sqlite_ms: median },
      };
      const report = JSON.parse(stdout) as { qemu: unknown };
      expect(report).toMatchObject({
        mips: median,
        native_mops: median,
        exec_mix: mix,
        boot_ready_ms: median,
      });
      // The same image and commands, where it is installed.
      const inQemu = { ...mix, boot_ready_ms: number };
      if (report.qemu !== null) {
        expect(report.qemu).toMatchObject({ plain: inQemu, icount: inQemu });
      }
    });

    it("fork prints one object, with the memory of the whole process while 1,000 machines live", async () => {
      const { code, stdout } = await cli(["bench", "fork", "--effort", "0.001", "--json"]);
      expect(code).toBe(0);
      const report = JSON.parse(stdout) as {
        golden_mib: number;
        memory: { soft: { bulk1000: { rss_mib: number; growth_mib: number } } };
      };
      expect(report).toMatchObject({
        host: expect.any(Object) as object,
        golden_mib: number,
        memory: {
          soft: figures,
          uffd: figures,
        },
        baseline: { spawn_true_ms: spread, fork2_us: spread, fork2_huge_us: spread, copy_ms: spread },
      });
      // The golden's pages and the runtime are in the process before the first machine is.
      const { rss_mib: whole, growth_mib: growth } = report.memory.soft.bulk1000;
      expect(whole - growth).toBeGreaterThan(report.golden_mib);
      expect(growth).toBeGreaterThan(0);
    });
  },
);

describe.skipIf(imageNames().every(({ name }) => name !== "shell"))(
  "bench scale, with the shell image that is in the cache,",
  () => {
    it("prints one object and writes it with tables and pictures", async () => {
      const folder = mkdtempSync(join(tmpdir(), "shinken-scale-"));
      onTestFinished(() => {
        rmSync(folder, { recursive: true });
      });
      const { code, stdout } = await cli([
        ...["bench", "scale", "--sizes", "1", "--children", "1,3", "--effort", "0.001"],
        ...["--write", folder, "--json"],
      ]);
      expect(code).toBe(0);
      const report = JSON.parse(stdout) as Record<string, unknown>;
      const child = { ms: number, growth_mib: number, kib_per_child: number };
      const size = { fork_us: spread, ready_ms: spread };
      expect(report).toMatchObject({
        host: expect.any(Object) as object,
        sizes: [
          {
            golden_mib: number,
            memory: { soft: size, uffd: size },
            baseline: { fork2_us: spread, fork2_huge_us: spread, copy_us: spread },
          },
        ],
        children: [1, 3].map((children) => ({ children, memory: { soft: child, uffd: child } })),
      });
      expect(JSON.parse(readFileSync(join(folder, "scale.json"), "utf8"))).toEqual(report);
      expect(readFileSync(join(folder, "scale.md"), "utf8")).toContain("| 3 |");
      for (const picture of ["golden-size.svg", "children.svg", "children-memory.svg"]) {
        const svg = readFileSync(join(folder, picture), "utf8");
        expect(svg).toMatch(/^<svg/);
        expect(svg).toContain("soft");
      }
    });

    it("takes no golden that would leave its guest no room", async () => {
      const { code, stderr } = await cli(["bench", "scale", "--sizes", "64,4096"]);
      expect(code).not.toBe(0);
      expect(stderr).toContain("from 1 to 2048");
    });
  },
);

describe.skipIf(imageNames().every(({ name }) => name !== "shell"))(
  "bench verify, with the shell image that is in the cache,",
  () => {
    it("prints one object: what verdicts cost, and a bare fork beside", async () => {
      const { code, stdout } = await cli(["bench", "verify", "--effort", "0.01", "--json"]);
      expect(code).toBe(0);
      const cpu_ms = { ten: number, hundred: number, programs: number, fork: number };
      const report = { ten_ms: spread, hundred_ms: spread, programs_ms: spread, fork_ms: spread, cpu_ms };
      expect(JSON.parse(stdout)).toMatchObject(report);
    }, 120_000);
  },
);

describe.skipIf(imageNames().every(({ name }) => name !== "shell") || process.platform !== "linux")(
  "bench machines, with the shell image that is in the cache,",
  () => {
    it("prints one object: what parked machines hold, how working ones share the threads, what their end gives back", async () => {
      const { code, stdout } = await cli(["bench", "machines", "--effort", "0.002", "--json"]);
      expect(code).toBe(0);
      const report = JSON.parse(stdout) as {
        parked: { kib_each: number; dirty_kib_each: number; descriptors: number };
        live: { waited_ms_mean: number; ran_ms_mean: number };
      };
      expect(report).toMatchObject({
        host: expect.any(Object) as object,
        parked: { machines: 20, kib_each_without_caches: number, descriptors: 0, mappings: number },
        live: { machines: 2, seconds: number, waited_ms_mean: number },
        before_mib: number,
        after_close_mib: number,
      });
      expect(report.parked.kib_each).toBeGreaterThan(report.parked.dirty_kib_each);
      expect(report.live.ran_ms_mean).toBeGreaterThan(0);
    });
  },
);

describe.skipIf(imageNames().every(({ name }) => name !== "shell"))(
  "bench rollout, with the shell image that is in the cache,",
  () => {
    it("prints one object: episodes end to end, how busy the pools were, and what others publish", async () => {
      const words = ["--episodes", "1", "--operator", "done", "--concurrency", "2", "--json"];
      const { code, stdout } = await cli(["bench", "rollout", ...words]);
      expect(code).toBe(0);
      const pool = { size: number, busy: number, waiting_ms: spread };
      expect(JSON.parse(stdout)).toMatchObject({
        host: expect.any(Object) as object,
        operator: "done",
        ...{ episodes: 11, passed: 0, ungraded: 0, episodes_per_s: number },
        ...{ reset_ms: spread, ready_ms: spread, step_ms: spread, evaluate_ms: spread },
        pools: { init: pool, run: { ...pool, size: 2 }, verify: pool },
        peers: { container_reset_ms: { low: 60, high: 120 }, osworld_sleeps_s_per_task: { value: 80 } },
      });
    }, 240_000);
  },
);
