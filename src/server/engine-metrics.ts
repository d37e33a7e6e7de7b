/** What `/metrics` shows of the threads that run machines. The figures are kept there and only read here. */
import { Counter, Gauge, type Registry } from "prom-client";

/** Requests that took so long: `counts` has a class more than there are bounds. */
interface Times {
  counts: readonly number[];
  count: number;
  seconds: number;
}

interface PriorityLoad {
  queued: number;
  running: number;
  waited: Times;
  ran: Times;
}

export interface EngineFigures {
  threads: number;
  waiting: number;
  turns: number;
  preempted: number;
  codeBytes: number;
  cachesDropped: number;
  /** States of machines after their steps, of all sessions. */
  checkpoints: { kept: number; heldBytes: number; taken: number; dropped: number };
  /** Seconds. */
  timeBounds: readonly number[];
  priorities: Readonly<Record<"ordinary" | "grade", PriorityLoad>>;
}

/** The figures as they are now; undefined before the first machine. */
export type EngineSource = () => EngineFigures | undefined;

const priorities = ["ordinary", "grade"] as const;

/** Adds the engine's metrics to `registry`. */
export function addEngineMetrics(registry: Registry, source: EngineSource): void {
  const gauge = (name: string, help: string, read: (figures: EngineFigures) => number): void => {
    registry.registerMetric(
      new Gauge({
        name,
        help,
        registers: [],
        collect() {
          const figures = source();
          this.set(figures === undefined ? 0 : read(figures));
        },
      }),
    );
  };
  const counter = (name: string, help: string, read: (figures: EngineFigures) => number): void => {
    registry.registerMetric(
      new Counter({
        name,
        help,
        registers: [],
        collect() {
          const figures = source();
          this.reset();
          this.inc(figures === undefined ? 0 : read(figures));
        },
      }),
    );
  };
  const byPriority = (name: string, help: string, read: (load: PriorityLoad) => number): void => {
    registry.registerMetric(
      new Gauge({
        name,
        help,
        labelNames: ["priority"],
        registers: [],
        collect() {
          const figures = source();
          for (const priority of priorities)
            this.set({ priority }, figures === undefined ? 0 : read(figures.priorities[priority]));
        },
      }),
    );
  };
  gauge("shinken_engine_threads", "Threads that run machines.", ({ threads }) => threads);
  gauge("shinken_engine_waiting", "Requests in host time that wait for input.", ({ waiting }) => waiting);
  gauge("shinken_machine_code_bytes", "Code that machines decoded for themselves.", (all) => all.codeBytes);
  gauge("shinken_checkpoints", "Checkpoints that sessions keep.", ({ checkpoints }) => checkpoints.kept);
  gauge(
    "shinken_checkpoint_bytes",
    "What checkpoints keep alive beside goldens and machines.",
    ({ checkpoints }) => checkpoints.heldBytes,
  );
  counter("shinken_checkpoints_taken_total", "Checkpoints taken.", ({ checkpoints }) => checkpoints.taken);
  counter(
    "shinken_checkpoints_dropped_total",
    "Checkpoints dropped since their session's budget was used up.",
    ({ checkpoints }) => checkpoints.dropped,
  );
  byPriority("shinken_engine_queued", "Requests that wait for a thread.", ({ queued }) => queued);
  byPriority("shinken_engine_running", "Requests that have a thread.", ({ running }) => running);
  counter("shinken_engine_turns_total", "Turns that requests had on a thread.", ({ turns }) => turns);
  counter("shinken_engine_preempted_total", "Turns cut short for another.", ({ preempted }) => preempted);
  counter(
    "shinken_engine_caches_dropped_total",
    "Machines at rest that let go of their code.",
    ({ cachesDropped }) => cachesDropped,
  );
  registry.registerMetric(
    times("shinken_engine_wait_seconds", "How long a request waited for a thread.", source, "waited"),
  );
  registry.registerMetric(
    times("shinken_engine_run_seconds", "How long a request had a thread.", source, "ran"),
  );
}

/** A histogram whose classes were counted elsewhere; the library's own can only be filled one by one. */
function times(name: string, help: string, source: EngineSource, which: "waited" | "ran"): Gauge {
  const metric = new Gauge({ name, help, registers: [] });
  const read = (): Awaited<ReturnType<Gauge["get"]>> => {
    const figures = source();
    const values = priorities.flatMap((priority) => {
      if (figures === undefined) return [];
      const { counts, count, seconds } = figures.priorities[priority][which];
      let below = 0;
      const classes = counts.map((inClass, i) => {
        below += inClass;
        const le = figures.timeBounds[i] ?? "+Inf";
        return { metricName: `${name}_bucket`, labels: { priority, le }, value: below };
      });
      return [
        ...classes,
        { metricName: `${name}_sum`, labels: { priority }, value: seconds },
        { metricName: `${name}_count`, labels: { priority }, value: count },
      ];
    });
    return { name, help, type: "histogram", values, aggregator: "sum" } as never;
  };
  metric.get = () => Promise.resolve(read());
  return metric;
}
