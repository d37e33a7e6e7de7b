/** What an evaluation is doing, on standard error: a bar for the whole and one a pool on a terminal, plain lines elsewhere. */
import { MultiBar, type SingleBar } from "cli-progress";
import type { PipelineMetrics } from "../rollout/index.js";

/** Milliseconds between two looks. */
const redrawEveryMs = 250;
const lineEveryMs = 5_000;

type PoolName = "init" | "run" | "verify";
const poolNames: readonly PoolName[] = ["init", "run", "verify"];

export class EvalProgress {
  private readonly name: string;
  private readonly began = performance.now();
  private readonly terminal = process.stderr.isTTY;
  private metrics: (() => PipelineMetrics) | undefined;
  private bars: { all: MultiBar; total: SingleBar; pools: Map<PoolName, SingleBar> } | undefined;
  private timer: NodeJS.Timeout | undefined;
  private done = 0;
  /** Done before it began, by an earlier part of the run. */
  private before: number | undefined;
  private total = 0;
  private latest = "";

  constructor(name: string) {
    this.name = name;
  }

  start(metrics: () => PipelineMetrics, total: number): void {
    this.metrics = metrics;
    this.total = total;
    if (this.terminal) this.bars = this.startBars();
    else process.stderr.write(`== ${this.name}\n`);
    this.timer = setInterval(() => this.show(), this.terminal ? redrawEveryMs : lineEveryMs);
  }

  update(done: number, total: number, latest: string): void {
    this.before ??= done - 1;
    Object.assign(this, { done, total, latest });
  }

  /** Idempotent. */
  end(): void {
    if (this.timer === undefined) return;
    clearInterval(this.timer);
    this.timer = undefined;
    this.bars?.all.stop();
    process.stderr.write(`== ${this.name}: ${this.whole()}\n`);
  }

  private show(): void {
    const metrics = this.metrics?.();
    if (metrics === undefined) return;
    if (this.bars === undefined) {
      process.stderr.write(`   ${this.name}: ${this.whole()}; ${poolsLine(metrics)}\n`);
      return;
    }
    this.bars.total.setTotal(Math.max(1, this.total));
    this.bars.total.update(this.done, { text: `${this.whole()} ${this.latest}`.slice(0, 72) });
    for (const [name, bar] of this.bars.pools) {
      const { running, queued, utilisation } = metrics[name];
      bar.update(running, { text: `${queued} waiting, ${percent(utilisation)} busy` });
    }
  }

  /** `12/55 episodes, 3.1/s, 14 s left`. */
  private whole(): string {
    const seconds = (performance.now() - this.began) / 1_000;
    const rate = (this.done - (this.before ?? 0)) / Math.max(seconds, 0.001);
    const left =
      this.done < this.total && rate > 0 ? `, ${duration((this.total - this.done) / rate)} left` : "";
    return `${this.done}/${this.total} episodes, ${rate.toFixed(1)}/s${left}`;
  }

  private startBars(): NonNullable<typeof this.bars> {
    const all = new MultiBar({
      format: "{name} [{bar}] {text}",
      stream: process.stderr,
      clearOnComplete: true,
      hideCursor: true,
      barsize: 24,
    });
    const total = all.create(Math.max(1, this.total), 0, { name: `== ${this.name}`, text: "" });
    const sizes = this.metrics?.();
    const pools = new Map(
      poolNames.map((name) => [
        name,
        all.create(sizes?.[name].size ?? 1, 0, { name: name.padStart(9), text: "" }),
      ]),
    );
    return { all, total, pools };
  }
}

function poolsLine(metrics: PipelineMetrics): string {
  const pools = poolNames.map((name) => {
    const { running, size, queued } = metrics[name];
    return `${name} ${running}/${size}${queued > 0 ? ` and ${queued} waiting` : ""}`;
  });
  const broken = metrics.breakers.filter(({ state }) => state !== "closed").map(({ key }) => key);
  return [...pools, ...broken.map((image) => `circuit of ${image} open`)].join(", ");
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;

function duration(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
