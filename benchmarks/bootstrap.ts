/** `shinken bench bootstrap`: what an interval of the hierarchical bootstrap takes, by the shape of the run. */
import { Bench } from "tinybench";
import { bootstrapMean, Random } from "../src/rollout/statistics/index.js";
import { hostFacts, type Spread, spread } from "./statistics.js";

export interface BootstrapOptions {
  /** Samples of each shape. */
  samples: number;
  onProgress?: ((line: string) => void) | undefined;
}

export interface BootstrapBenchmark {
  host: Record<string, unknown>;
  resamples: number;
  /** Milliseconds of one interval. */
  shapes: Record<string, Spread>;
}

const resamples = 10_000;

interface Shape {
  tasks: number;
  replicas: number;
  /** Different scores that occur: 2 is passed or not. */
  scores: number;
}

/** A usual run, one with partial scores, and a million replicas in two ways. */
const shapes: readonly Shape[] = [
  { tasks: 50, replicas: 5, scores: 2 },
  { tasks: 369, replicas: 5, scores: 2 },
  { tasks: 369, replicas: 5, scores: 11 },
  { tasks: 1_000, replicas: 1_000, scores: 2 },
  { tasks: 1, replicas: 1_000_000, scores: 2 },
];

export async function benchmarkBootstrap(options: BootstrapOptions): Promise<BootstrapBenchmark> {
  const found: Record<string, Spread> = {};
  for (const shape of shapes) {
    const { tasks, replicas, scores } = shape;
    const name = `${tasks} tasks, ${replicas} replicas, ${scores} scores`;
    const data = made(shape);
    const bench = new Bench({
      time: 0,
      iterations: options.samples,
      warmup: false,
      throws: true,
      retainSamples: true,
    });
    bench.add(name, () => {
      bootstrapMean(data, { seed: 1, resamples });
    });
    await bench.run();
    const result = bench.tasks[0]?.result;
    const samples = result !== undefined && "latency" in result ? (result.latency.samples ?? []) : [];
    const measured = spread(samples);
    found[name] = measured;
    options.onProgress?.(`${name}: p50 ${measured.p50} ms`);
  }
  return { host: hostFacts(), resamples, shapes: found };
}

/** Tasks of every difficulty, the same in each run. */
function made({ tasks, replicas, scores }: Shape): number[][] {
  const random = new Random(7);
  return Array.from({ length: tasks }, () => {
    const chance = random.below(101);
    return Array.from({ length: replicas }, () => random.binomial(scores - 1, chance, 100) / (scores - 1));
  });
}
