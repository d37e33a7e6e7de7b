/** What `/metrics` shows, in Prometheus' text format. One registry a server, so that two in one process stay apart. */
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { ErrorCode } from "../errors/index.js";
import { addEngineMetrics, type EngineSource } from "./engine-metrics.js";
import { RolloutMetrics, type RolloutSource } from "./rollouts/metrics.js";
import { addRecorderMetrics, type RecorderSource } from "./recorder-metrics.js";

/** Figures that are read when somebody asks. */
export interface MetricsSource {
  sessions(): number;
  detachedSessions(): number;
  connections(): number;
  outstandingRequests(): number;
  /** Machines that are open, or undefined where the server has none. */
  machines?: (() => number) | undefined;
  /** Bytes of guest memory in this process, or undefined where the server has no machines. */
  guestMemory?:
    | (() => {
        liveBytes: number;
        heldBytes: number;
        fileBytes: number;
        flatBytes: number;
        hugeBytes: number;
        paths: Record<keyof typeof memoryPaths, number>;
      })
    | undefined;
  /** What the threads that run machines do, or undefined where the server has no machines. */
  engine?: EngineSource | undefined;
  /** Forks that were refused for want of memory. */
  refusedForks?: (() => number) | undefined;
  /** Forks killed before anybody used them, by the reason, or undefined where the server has no machines. */
  killedForks?: (() => Readonly<Record<string, number>>) | undefined;
  rollouts: RolloutSource;
  /** Recording, or undefined where nothing is recorded. */
  recorder?: RecorderSource | undefined;
}

/** Label of each path of userfaultfd. */
const memoryPaths = {
  scannedPages: "dirty_set",
  coldFaults: "cold_golden",
  prefetchedPages: "cold_golden_prefetch",
  liveFaults: "live_snapshot",
} as const;

export class Metrics {
  private readonly registry = new Registry();
  private readonly registers = [this.registry];
  readonly sessionsCreated = this.counter("shinken_sessions_created_total", "Sessions that were created.");
  readonly sessionsExpired = this.counter(
    "shinken_sessions_expired_total",
    "Sessions closed for being idle, detached or alive for too long.",
  );
  readonly resets = this.counter("shinken_resets_total", "Episodes that were started.");
  readonly forks = this.counter("shinken_forks_total", "Forks asked for: resets and branches.");
  readonly steps = this.counter("shinken_steps_total", "Steps that were done; resends are not counted.");
  readonly droppedSends = this.counter(
    "shinken_dropped_sends_total",
    "Messages that the transport dropped. Anything but 0 is a fault of the server.",
  );
  readonly slowConsumers = this.counter(
    "shinken_slow_consumers_total",
    "Connections closed because the client did not read.",
  );
  readonly rollouts: RolloutMetrics;
  readonly forkReady = new Histogram({
    name: "shinken_fork_ready_seconds",
    help: "From the start of a fork to its acknowledged uniqueness.",
    buckets: [0.0005, 0.001, 0.0015, 0.002, 0.003, 0.004, 0.006, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5],
    registers: this.registers,
  });
  readonly stepSeconds = new Histogram({
    name: "shinken_step_seconds",
    help: "From a step's request to its reply, inside the server.",
    buckets: [0.0001, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5, 30],
    registers: this.registers,
  });
  private readonly verdicts = new Counter({
    name: "shinken_verdicts_total",
    help: "Verdicts by status.",
    labelNames: ["status"],
    registers: this.registers,
  });
  private readonly infraFailures = new Counter({
    name: "shinken_infra_failures_total",
    help: "Failures of the harness by code; never a reward.",
    labelNames: ["code"],
    registers: this.registers,
  });
  private readonly errors = new Counter({
    name: "shinken_errors_total",
    help: "Error replies by code.",
    labelNames: ["code"],
    registers: this.registers,
  });

  constructor(source: MetricsSource) {
    this.rollouts = new RolloutMetrics(this.registry, source.rollouts);
    this.gauge("shinken_sessions", "Sessions that are open.", () => source.sessions());
    this.gauge("shinken_sessions_detached", "Open sessions that nobody holds.", () =>
      source.detachedSessions(),
    );
    this.gauge("shinken_connections", "Connections that are open.", () => source.connections());
    this.gauge("shinken_outstanding_requests", "Requests not answered yet.", () =>
      source.outstandingRequests(),
    );
    const { machines, guestMemory, killedForks } = source;
    if (killedForks !== undefined) this.killedForks(killedForks);
    if (machines !== undefined) this.gauge("shinken_machines", "Machines that are open.", machines);
    if (guestMemory !== undefined) {
      this.gauge(
        "shinken_guest_memory_live_bytes",
        "Guest pages that a machine or golden reaches, each counted once.",
        () => guestMemory().liveBytes,
      );
      this.gauge(
        "shinken_guest_memory_held_bytes",
        "Host memory taken for guest pages, with the room kept for the next fork.",
        () => guestMemory().heldBytes,
      );
      this.gauge(
        "shinken_guest_memory_file_bytes",
        "Pages of golden files that are mapped; the host's page cache holds them.",
        () => guestMemory().fileBytes,
      );
      this.gauge(
        "shinken_guest_memory_flat_bytes",
        "Of the live bytes, those of flat memories and their goldens.",
        () => guestMemory().flatBytes,
      );
      this.gauge(
        "shinken_guest_memory_huge_bytes",
        "Flat goldens in pages of 2 MiB.",
        () => guestMemory().hugeBytes,
      );
      new Counter({
        name: "shinken_userfaultfd_pages_total",
        help: "Pages that userfaultfd served, by what for.",
        labelNames: ["path"],
        registers: this.registers,
        collect() {
          this.reset();
          const { paths } = guestMemory();
          for (const [key, path] of Object.entries(memoryPaths)) {
            this.inc({ path }, paths[key as keyof typeof memoryPaths]);
          }
        },
      });
    }
    if (source.engine !== undefined) addEngineMetrics(this.registry, source.engine);
    if (source.recorder !== undefined) addRecorderMetrics(this.registry, source.recorder);
    const { refusedForks } = source;
    if (refusedForks !== undefined) {
      this.registry.registerMetric(
        new Counter({
          name: "shinken_refused_forks_total",
          help: "Machines that were not made, since the host had no memory for them.",
          registers: [],
          collect() {
            this.reset();
            this.inc(refusedForks());
          },
        }),
      );
    }
    this.gauge("process_resident_memory_bytes", "Resident memory.", () => process.memoryUsage.rss());
    this.gauge("nodejs_heap_used_bytes", "JavaScript heap in use.", () => process.memoryUsage().heapUsed);
    for (const status of ["graded", "ungraded"]) this.verdicts.inc({ status }, 0);
  }

  private killedForks(read: () => Readonly<Record<string, number>>): void {
    new Counter({
      name: "shinken_killed_forks_total",
      help: "Forks killed since their acknowledgement was lost, repeated, or never came to be.",
      labelNames: ["reason"],
      registers: this.registers,
      collect() {
        this.reset();
        for (const [reason, count] of Object.entries(read())) this.inc({ reason }, count);
      },
    });
  }

  verdict(status: string): void {
    this.verdicts.inc({ status });
  }

  infraFailure(code: ErrorCode | "unknown"): void {
    this.infraFailures.inc({ code });
  }

  error(code: ErrorCode): void {
    this.errors.inc({ code });
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  text(): Promise<string> {
    return this.registry.metrics();
  }

  private counter(name: string, help: string): Counter {
    return new Counter({ name, help, registers: this.registers });
  }

  private gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: this.registers,
      collect() {
        this.set(read());
      },
    });
  }
}
