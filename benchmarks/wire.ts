/** `shinken bench wire`: steps over loopback on echo sessions. Server and load client are processes of their own. */
import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { hostFacts } from "./statistics.js";
import type { WireLoad } from "./wire-load.js";
import { compareRecording, type RecordingCost } from "./wire-recording.js";
import { startServer } from "./wire-server.js";

const run = promisify(execFile);

export interface WireBenchmarkOptions {
  /** The `shinken` command. */
  launcher: string;
  /** Numbers of sessions; default 1, 8, 64 and 1,000. */
  sessions?: readonly number[] | undefined;
  /** Seconds for each. */
  seconds: number;
  /** Image of the machines whose steps are recorded and not. */
  image: string;
  onProgress?: ((line: string) => void) | undefined;
}

export interface WireBenchmark {
  host: Record<string, unknown>;
  /** Nothing is recorded. */
  sessions: Record<string, WireLoad>;
  /** Steps of machines are left out where there is no such image. */
  recording: { echo: RecordingCost; machine: RecordingCost | null };
}

const defaultSessions = [1, 8, 64, 1000];

export async function benchmarkWire(options: WireBenchmarkOptions): Promise<WireBenchmark> {
  const sessions: Record<string, WireLoad> = {};
  const server = await startServer(options.launcher, ["--no-record"]);
  try {
    for (const count of options.sessions ?? defaultSessions) {
      const load = await runLoad(server.url, count, options.seconds);
      sessions[String(count)] = load;
      options.onProgress?.(
        `${count} sessions: ${Math.round(load.steps_per_s)} steps/s, p99 ${load.p99_ms} ms`,
      );
    }
  } finally {
    await server.stop();
  }
  const { launcher, seconds, image, onProgress } = options;
  const compare = { launcher, seconds, runLoad, onProgress };
  return {
    host: hostFacts(),
    sessions,
    recording: {
      echo: await compareRecording(compare, 8),
      machine: await compareRecording(compare, 2, image).catch((error: unknown) => {
        if (String((error as { stderr?: string }).stderr).includes("image_missing")) return null;
        throw error;
      }),
    },
  };
}

async function runLoad(url: string, sessions: number, seconds: number, image?: string): Promise<WireLoad> {
  const client = join(dirname(fileURLToPath(import.meta.url)), "wire-load.js");
  const words = [client, url, String(sessions), String(seconds), ...(image === undefined ? [] : [image])];
  const { stdout } = await run(process.execPath, words);
  return JSON.parse(stdout) as WireLoad;
}
