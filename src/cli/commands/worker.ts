import { hostname } from "node:os";
import type { Command } from "commander";
import type { MemoryKind } from "../../sandbox/microvm/addon.js";
import { printJson } from "../json.js";
import { integer, memoryKind, seconds } from "../options.js";

interface WorkerOptions {
  queue: string;
  tasks: string;
  node: string;
  concurrency: number;
  lease: number;
  drain: number;
  memory?: MemoryKind;
  json?: boolean;
}

export function define(command: Command): void {
  command
    .requiredOption("--queue <address>", "sqlite:FILE for one host, redis://HOST:PORT for several")
    .requiredOption("--tasks <dir>", "folder of tasks; jobs of another task set are given back")
    .option("--node <name>", "name of this node, unlike any other's", `${hostname()}-${process.pid}`)
    .option("--concurrency <n>", "episodes at a time", integer(1, 1_024), 2)
    .option(
      "--lease <seconds>",
      "time after which a node without a sign of life has lost its jobs",
      seconds,
      30,
    )
    .option(
      "--drain <seconds>",
      "time that episodes get after SIGTERM before they are given back",
      seconds,
      10,
    )
    .option("--memory <kind>", "guest memory: soft (default) or uffd", memoryKind)
    .option("--json", "print what was done as one JSON object")
    .addHelpText(
      "after",
      "\nExample:\n  shinken worker --queue redis://10.0.0.1:6379 --tasks tasks/demo --concurrency 4\n\nIt plays on machines of its own until SIGTERM or SIGINT. Exit codes: 0 drained, 2 usage or a wrong task, 3 no queue or no machine.",
    )
    .action(runWorker);
}

async function runWorker(options: WorkerOptions): Promise<void> {
  const [{ loadTasks }, { Pipeline }, queues, { connect }, { startServerProcess }, { publishedScorers }] =
    await Promise.all([
      import("../../env/index.js"),
      import("../../rollout/index.js"),
      import("../../rollout/queue/index.js"),
      import("../../client/index.js"),
      import("../server-process.js"),
      import("../../suites/index.js"),
    ]);
  const set = await loadTasks(options.tasks, { scorers: publishedScorers });
  const queue = await queues.openQueue(options.queue, { leaseMs: options.lease * 1_000 });
  const stop = new AbortController();
  const end = () => {
    stop.abort();
  };
  process.once("SIGTERM", end);
  process.once("SIGINT", end);
  try {
    const server = await startServerProcess(options.tasks, { memory: options.memory });
    try {
      const client = await connect(server.url, { token: process.env["SHINKEN_TOKEN"] || undefined });
      const pipeline = new Pipeline({ client, pools: { run: options.concurrency } });
      const held = new Set<string>();
      process.stderr.write(`worker ${options.node}: takes jobs\n`);
      const tally = await queues.work({
        queue,
        node: options.node,
        concurrency: options.concurrency,
        signal: stop.signal,
        drainMs: options.drain * 1_000,
        goldens: () => [...held],
        async play(lease, signal) {
          const outcome = await queues.playLease(lease, set, pipeline, signal);
          if (lease.golden !== null && outcome.readyMs !== null) held.add(lease.golden);
          return outcome;
        },
        onTrouble: (lease, error) => {
          process.stderr.write(`worker ${options.node}: ${lease?.id ?? "queue"}: ${String(error)}\n`);
        },
      });
      pipeline.close();
      await client.close();
      if (options.json === true) printJson({ node: options.node, ...tally });
      else
        process.stdout.write(
          `${tally.acknowledged} done, ${tally.givenBack} given back, ${tally.lost} lost\n`,
        );
    } finally {
      await server.stop();
    }
  } finally {
    process.off("SIGTERM", end);
    process.off("SIGINT", end);
    await queue.close();
  }
}
