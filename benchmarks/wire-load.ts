/**
 * The load client: `node wire-load.js URL SESSIONS SECONDS [IMAGE]`. Every session keeps one step in flight over one shared
 * connection: an echo, or a command on a machine of that image. Prints one JSON object.
 */
import { pathToFileURL } from "node:url";
import { connect, type RemoteSession } from "../src/client/index.js";
import { percentile, rounded } from "./statistics.js";

export interface WireLoad {
  steps_per_s: number;
  p50_ms: number;
  p99_ms: number;
  steps: number;
  /** With those before anything is measured. */
  steps_all: number;
}

/** Share of the time that is played before anything is measured. */
const warmUpShare = 0.2;

type Actions = readonly Record<string, unknown>[];

const echo: Actions = [{ type: "echo", text: "a step of an ordinary length, as an agent would send it" }];
const command: Actions = [{ type: "exec", command: "true" }];

export async function load(url: string, count: number, seconds: number, image?: string): Promise<WireLoad> {
  const client = await connect(url);
  const actions = image === undefined ? echo : command;
  const sessions = await Promise.all(
    Array.from({ length: count }, () =>
      client.create(image === undefined ? { environment: "echo" } : { image }),
    ),
  );
  await Promise.all(sessions.map((session) => session.reset()));
  const warmUp: number[] = [];
  await playFor(sessions, actions, seconds * warmUpShare, warmUp);
  const samples: number[] = [];
  const started = performance.now();
  await playFor(sessions, actions, seconds, samples);
  const taken = (performance.now() - started) / 1000;
  await Promise.all(sessions.map((session) => session.close()));
  await client.close();
  return {
    steps_per_s: rounded(samples.length / taken),
    p50_ms: rounded(percentile(samples, 0.5)),
    p99_ms: rounded(percentile(samples, 0.99)),
    steps: samples.length,
    steps_all: warmUp.length + samples.length,
  };
}

async function playFor(
  sessions: readonly RemoteSession[],
  actions: Actions,
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
  const [url = "", count = "1", seconds = "1", image] = process.argv.slice(2);
  process.stdout.write(`${JSON.stringify(await load(url, Number(count), Number(seconds), image))}\n`);
}
