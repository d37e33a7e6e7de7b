/**
 * The load client: `node wire-load.js URL SESSIONS SECONDS`. Every session keeps one step in flight over one shared
 * connection. Prints one JSON object.
 */
import { pathToFileURL } from "node:url";
import { connect, type RemoteSession } from "../src/client/index.js";
import { percentile, rounded } from "./statistics.js";

export interface WireLoad {
  steps_per_s: number;
  p50_ms: number;
  p99_ms: number;
  steps: number;
}

/** Share of the time that is played before anything is measured. */
const warmUpShare = 0.2;

const actions = [{ type: "echo", text: "a step of an ordinary length, as an agent would send it" }];

export async function load(url: string, count: number, seconds: number): Promise<WireLoad> {
  const client = await connect(url);
  const sessions = await Promise.all(
    Array.from({ length: count }, () => client.create({ environment: "echo" })),
  );
  await Promise.all(sessions.map((session) => session.reset()));
  await playFor(sessions, seconds * warmUpShare, []);
  const samples: number[] = [];
  const started = performance.now();
  await playFor(sessions, seconds, samples);
  const taken = (performance.now() - started) / 1000;
  await Promise.all(sessions.map((session) => session.close()));
  await client.close();
  return {
    steps_per_s: rounded(samples.length / taken),
    p50_ms: rounded(percentile(samples, 0.5)),
    p99_ms: rounded(percentile(samples, 0.99)),
    steps: samples.length,
  };
}

async function playFor(
  sessions: readonly RemoteSession[],
  seconds: number,
  samples: number[],
): Promise<void> {
  const end = performance.now() + seconds * 1000;
  await Promise.all(
    sessions.map(async (session) => {
      for (let before = performance.now(); before < end; ) {
        await session.step(actions);
        const after = performance.now();
        samples.push(after - before);
        before = after;
      }
    }),
  );
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [url = "", count = "1", seconds = "1"] = process.argv.slice(2);
  process.stdout.write(`${JSON.stringify(await load(url, Number(count), Number(seconds)))}\n`);
}
