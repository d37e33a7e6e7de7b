/**
 * `shinken bench rollout-pull`: a reset out of a warm pool beside a create and a reset without one, and episodes a second with several
 * pullers. The server is a process of its own; nothing is recorded.
 */
import { connect, type RemoteEpisode, type RemoteRollout, type ShinkenClient } from "../src/client/index.js";
import { ShinkenError } from "../src/errors/index.js";
import { hostFacts, rounded, type Spread, spread } from "./statistics.js";
import { startServer } from "./wire-server.js";

export interface RolloutPullOptions {
  /** The `shinken` command. */
  launcher: string;
  /** Folder of tasks, and the one that is played. */
  tasks: string;
  task: string;
  pullers: number;
  /** Resets of each kind. */
  samples: number;
  /** Seconds of each measurement of episodes a second. */
  seconds: number;
  onProgress?: ((line: string) => void) | undefined;
}

export interface PullFigures {
  /** Milliseconds as the client sees them: `rollout.next` with an episode ready, and `create` with `reset`. */
  warm_reset_ms: Spread;
  cold_reset_ms: Spread;
  /** Medians: cold to warm. */
  ratio: number;
  pullers: number;
  /** Whole episodes: reset, one step that is the last, verdict, close. Pulled, and each created. */
  pulled_episodes_per_s: number;
  created_episodes_per_s: number;
  /** Resets in that measurement, milliseconds. */
  pulled_reset_ms: Spread;
  created_reset_ms: Spread;
}

export interface RolloutPullReport {
  host: Record<string, unknown>;
  echo: PullFigures;
  /** Null where the task's image is not there. */
  machine: PullFigures | null;
}

type Which = { task: string } | { environment: string };
const last = [{ type: "done" }];

export async function benchmarkRolloutPull(options: RolloutPullOptions): Promise<RolloutPullReport> {
  const server = await startServer(options.launcher, ["--no-record", "--tasks", options.tasks]);
  try {
    const client = await connect(server.url);
    const echo = await measure(client, { environment: "echo" }, options);
    const machine = await measure(client, { task: options.task }, options).catch((error: unknown) => {
      if (error instanceof ShinkenError && error.code === "image_missing") return null;
      throw error;
    });
    await client.close();
    return { host: hostFacts(), echo, machine };
  } finally {
    await server.stop();
  }
}

async function measure(
  client: ShinkenClient,
  which: Which,
  options: RolloutPullOptions,
): Promise<PullFigures> {
  const { samples, seconds, pullers, onProgress } = options;
  const name = "task" in which ? which.task : which.environment;
  // The golden is made, and the code is warm, before anything is measured.
  for (let count = 0; count < 3; count++) await createOne(client, which, []);
  const cold: number[] = [];
  const warm: number[] = [];
  const rollout = open(client, which, { min: 4, max: 4 });
  await rollout.open();
  // In turns, so that what else the host does falls on both.
  for (let count = 0; count < samples; count++) {
    await createOne(client, which, cold);
    await untilReady(rollout);
    await pullOne(rollout, warm);
  }
  await rollout.close();
  onProgress?.(`${name}: reset warm ${spread(warm).p50} ms, cold ${spread(cold).p50} ms`);

  const pulled: number[] = [];
  const many = open(client, which, { min: 0, max: 2 * pullers });
  const pulledRate = await rate(pullers, seconds, () => pullOne(many, pulled));
  await many.close();
  const created: number[] = [];
  const createdRate = await rate(pullers, seconds, () => createOne(client, which, created));
  onProgress?.(`${name}: ${pulledRate} episodes/s pulled, ${createdRate} created, ${pullers} pullers`);
  return {
    warm_reset_ms: spread(warm),
    cold_reset_ms: spread(cold),
    ratio: rounded(spread(cold).p50 / spread(warm).p50),
    pullers,
    pulled_episodes_per_s: pulledRate,
    created_episodes_per_s: createdRate,
    pulled_reset_ms: spread(pulled),
    created_reset_ms: spread(created),
  };
}

function open(client: ShinkenClient, which: Which, warm: { min: number; max: number }): RemoteRollout {
  return client.rollout({ ...("task" in which ? { tasks: [which.task] } : which), seed: 1, warm });
}

async function untilReady(rollout: RemoteRollout): Promise<void> {
  while ((await rollout.stats()).episodes.warm === 0) await new Promise((resolve) => setTimeout(resolve, 1));
}

async function pullOne(rollout: RemoteRollout, samples: number[]): Promise<void> {
  const began = performance.now();
  const episode: RemoteEpisode | null = await rollout.next();
  samples.push(performance.now() - began);
  if (episode === null) throw new Error("an endless rollout has ended");
  await episode.step(last);
  await episode.evaluate();
  await episode.close();
}

async function createOne(client: ShinkenClient, which: Which, samples: number[]): Promise<void> {
  const began = performance.now();
  const session = await client.create(which);
  await session.reset();
  samples.push(performance.now() - began);
  await session.step(last);
  await session.evaluate();
  await session.close();
}

/** Episodes a second of so many players at a time. */
async function rate(players: number, seconds: number, play: () => Promise<void>): Promise<number> {
  const began = performance.now();
  const end = began + seconds * 1000;
  let played = 0;
  await Promise.all(
    Array.from({ length: players }, async () => {
      while (performance.now() < end) {
        await play();
        played += 1;
      }
    }),
  );
  return rounded(played / ((performance.now() - began) / 1000));
}
