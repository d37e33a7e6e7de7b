/** What recording costs a server: the same steps on two servers, one that records and one that does not, in turns. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { percentile, rounded } from "./statistics.js";
import type { WireLoad } from "./wire-load.js";
import { type BenchmarkServer, startServer } from "./wire-server.js";

export interface RecordingCost {
  sessions: number;
  /** Medians of the turns. */
  plain_steps_per_s: number;
  recorded_steps_per_s: number;
  /** Median of each turn's recorded rate by its plain rate, and the lowest and highest of them. */
  share: number;
  share_low: number;
  share_high: number;
  /** Processor time of the server for a step, all threads; null where the host does not say. */
  plain_us_per_step: number | null;
  recorded_us_per_step: number | null;
}

export interface CompareOptions {
  launcher: string;
  seconds: number;
  runLoad: (url: string, sessions: number, seconds: number, image?: string) => Promise<WireLoad>;
  onProgress?: ((line: string) => void) | undefined;
}

/** Turns that are counted: fewer where they are too short to tell much. */
const turnsOf = (seconds: number): number => Math.max(1, Math.min(5, Math.round(seconds * 2)));

/** Rejects as the load client does, also where there is no such image. */
export async function compareRecording(
  options: CompareOptions,
  sessions: number,
  image?: string,
): Promise<RecordingCost> {
  const { launcher, seconds, runLoad, onProgress } = options;
  const folder = mkdtempSync(join(tmpdir(), "shinken-bench-"));
  const servers: BenchmarkServer[] = [];
  try {
    const plain = await startServer(launcher, ["--no-record"]);
    servers.push(plain);
    const recording = await startServer(launcher, ["--record", folder]);
    servers.push(recording);
    const measure = async (server: BenchmarkServer) => {
      const before = server.processorUs();
      const { steps_per_s, steps_all } = await runLoad(server.url, sessions, seconds, image);
      const after = server.processorUs();
      return {
        rate: steps_per_s,
        us: before === null || after === null ? null : (after - before) / steps_all,
      };
    };
    const rows: { plain: Measure; recorded: Measure }[] = [];
    // The first turn warms both up.
    for (let turn = 0; turn <= turnsOf(seconds); turn += 1) {
      const row = { plain: await measure(plain), recorded: await measure(recording) };
      if (turn > 0) rows.push(row);
    }
    const shares = rows.map((row) => row.recorded.rate / row.plain.rate);
    const cost: RecordingCost = {
      sessions,
      plain_steps_per_s: median(rows.map((row) => row.plain.rate)),
      recorded_steps_per_s: median(rows.map((row) => row.recorded.rate)),
      share: median(shares),
      share_low: rounded(Math.min(...shares)),
      share_high: rounded(Math.max(...shares)),
      plain_us_per_step: medianOrNull(rows.map((row) => row.plain.us)),
      recorded_us_per_step: medianOrNull(rows.map((row) => row.recorded.us)),
    };
    onProgress?.(
      `${image === undefined ? "echo" : "machine"} steps recorded: ${cost.share} of the rate without (${cost.share_low} to ${cost.share_high})`,
    );
    return cost;
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Measure {
  rate: number;
  us: number | null;
}

function median(values: number[]): number {
  return rounded(percentile(values, 0.5));
}

function medianOrNull(values: (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === values.length ? median(known) : null;
}
