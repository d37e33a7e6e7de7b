/** What `/metrics` shows of rollouts. */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { RolloutEvent } from "../../rollout/pull/index.js";

/** Figures that are read when somebody asks. */
export interface RolloutSource {
  open(): number;
  warm(): number;
  preparing(): number;
  playing(): number;
  waiting(): number;
}

export class RolloutMetrics {
  readonly #handOver: Histogram<"ready">;
  readonly #results: Counter<"status">;
  readonly #again: Counter<"code">;
  readonly #groups: Counter<"state">;

  constructor(registry: Registry, source: RolloutSource) {
    const registers = [registry];
    const gauge = (name: string, help: string, read: () => number) =>
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      });
    gauge("shinken_rollouts", "Rollouts that are open.", () => source.open());
    new Gauge({
      name: "shinken_rollout_episodes",
      help: "Episodes of rollouts that have a machine, or are getting one.",
      labelNames: ["state"],
      registers,
      collect() {
        this.set({ state: "warm" }, source.warm());
        this.set({ state: "preparing" }, source.preparing());
        this.set({ state: "playing" }, source.playing());
      },
    });
    gauge("shinken_rollout_waiting", "Pulls that wait for an episode.", () => source.waiting());
    this.#handOver = new Histogram({
      name: "shinken_rollout_hand_over_seconds",
      help: "From a pull's request to its episode, inside the server.",
      labelNames: ["ready"],
      buckets: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 30],
      registers,
    });
    this.#results = new Counter({
      name: "shinken_rollout_results_total",
      help: "Episodes of rollouts that have ended, by status.",
      labelNames: ["status"],
      registers,
    });
    this.#again = new Counter({
      name: "shinken_rollout_again_total",
      help: "Episodes that were given out again, by why.",
      labelNames: ["code"],
      registers,
    });
    this.#groups = new Counter({
      name: "shinken_rollout_groups_total",
      help: "Groups that were completed, cut, or had replicas replaced.",
      labelNames: ["state"],
      registers,
    });
  }

  /** `ready`: the episode was there before it was asked for. */
  handedOver(ready: boolean, seconds: number): void {
    this.#handOver.observe({ ready: ready ? "yes" : "no" }, seconds);
  }

  event(event: RolloutEvent): void {
    switch (event.event) {
      case "rollout.result":
        this.#results.inc({ status: event.status });
        break;
      case "rollout.again":
        this.#again.inc({ code: event.code });
        break;
      case "rollout.group":
        this.#groups.inc({ state: event.state });
    }
  }
}
