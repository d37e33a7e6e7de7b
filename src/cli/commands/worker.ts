import { hostname } from "node:os";
import type { Command } from "commander";
import { ShinkenError } from "../../errors/index.js";
import type { MemoryKind } from "../../sandbox/microvm/addon.js";
import { printableLines } from "../../replay/show/printable.js";
import { printJson } from "../json.js";
import { integer, memoryKind, seconds } from "../options.js";
import { readToken } from "../token.js";

interface WorkerOptions {
  queue: string;
  tasks: string;
  node: string;
  concurrency: number;
  lease: number;
  drain: number;
  memory?: MemoryKind;
  goldenAddress?: string;
  goldenUrl?: string;
  goldenTokenFile?: string;
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
    .option(
      "--golden-address <host:port>",
      "give goldens to other nodes there; any but loopback needs a token",
    )
    .option("--golden-url <url>", "how other nodes reach that address, where it is not what it says")
    .option(
      "--golden-token-file <file>",
      "file with the bearer token that all nodes share for goldens (or set SHINKEN_GOLDEN_TOKEN)",
    )
    .option("--json", "print what was done as one JSON object")
    .addHelpText(
      "after",
      "\nExample:\n  shinken worker --queue redis://10.0.0.1:6379 --tasks tasks/demo --concurrency 4 --golden-address 10.0.0.2:7070\n\nIt plays on machines of its own until SIGTERM or SIGINT. A golden that it lacks it fetches from a node that has it, and makes where none gives it.\n\nExit codes: 0 drained, 2 usage or a wrong task, 3 no queue, no machine, or its server has died.",
    )
    .action(runWorker);
}

async function runWorker(options: WorkerOptions): Promise<void> {
  const [
    { loadTasks },
    { Pipeline },
    queues,
    { connect },
    { startServerProcess },
    { publishedScorers },
    { assertReachable, openWorkerGoldens },
  ] = await Promise.all([
    import("../../env/index.js"),
    import("../../rollout/index.js"),
    import("../../rollout/queue/index.js"),
    import("../../client/index.js"),
    import("../server-process.js"),
    import("../../suites/index.js"),
    import("../worker-goldens.js"),
  ]);
  const { node, goldenAddress, goldenUrl } = options;
  assertReachable(goldenAddress, goldenUrl);
  const token = readToken(options.goldenTokenFile, "SHINKEN_GOLDEN_TOKEN");
  const set = await loadTasks(options.tasks, { scorers: publishedScorers });
  const queue = await queues.openQueue(options.queue, { leaseMs: options.lease * 1_000 });
  const stop = new AbortController();
  const end = () => {
    stop.abort();
  };
  process.once("SIGTERM", end);
  process.once("SIGINT", end);
  const say = (line: string) => {
    // It may quote what another node says of itself.
    process.stderr.write(`worker ${node}: ${printableLines(line)}\n`);
  };
  try {
    const goldens = await openWorkerGoldens({
      queue,
      node,
      tasks: set.tasks,
      address: goldenAddress,
      url: goldenUrl,
      token,
      signal: stop.signal,
      say,
    });
    try {
      const server = await startServerProcess(options.tasks, { memory: options.memory });
      const death = deathOf(server.gone, stop);
      try {
        const client = await connect(server.url, { token: process.env["SHINKEN_TOKEN"] || undefined });
        // What waits for an answer would else wait for another connection.
        death.addEventListener("abort", () => void client.close());
        const pipeline = new Pipeline({ client, pools: { run: options.concurrency } });
        say(goldens.url === undefined ? "takes jobs" : `takes jobs, gives goldens at ${goldens.url}`);
        const tally = await queues.work({
          queue,
          node,
          concurrency: options.concurrency,
          signal: stop.signal,
          drainMs: options.drain * 1_000,
          goldens: () => goldens.held(),
          url: goldens.url,
          async play(lease, signal) {
            await goldens.ensure(lease, signal);
            const ending = AbortSignal.any([signal, death]);
            const outcome = await queues.playLease(lease, set, pipeline, ending);
            // What was left ungraded may be so because of that.
            if (outcome.status === "ungraded") death.throwIfAborted();
            return outcome;
          },
          onTrouble: (lease, error) => {
            say(`${lease?.id ?? "queue"}: ${String(error)}`);
          },
        });
        pipeline.close();
        await client.close();
        death.throwIfAborted();
        if (options.json === true) printJson({ node, ...tally, goldens: goldens.tally() });
        else
          process.stdout.write(
            `${tally.acknowledged} done, ${tally.givenBack} given back, ${tally.lost} lost\n`,
          );
      } finally {
        await server.stop();
      }
    } finally {
      await goldens.close();
    }
  } finally {
    process.off("SIGTERM", end);
    process.off("SIGINT", end);
    await queue.close();
  }
}

/** Aborted once the server has gone of itself; then the work stops, too, since without it no job can be played. */
function deathOf(gone: Promise<number | string | null>, stop: AbortController): AbortSignal {
  const death = new AbortController();
  void gone.then((how) => {
    if (stop.signal.aborted) return;
    const failure = new ShinkenError("connection_lost", `the node's own server has died (${how})`);
    stop.abort(failure);
    death.abort(failure);
  });
  return death.signal;
}
