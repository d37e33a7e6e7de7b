import type { EventEmitter } from "node:events";
import { type Command, Option } from "commander";
import type { LimitOverrides } from "../../server/index.js";
import type { MemoryKind } from "../../sandbox/microvm/addon.js";
import { openRecorder } from "../recording.js";
import { readToken } from "../token.js";
import { integer, memoryKind, repeated, seconds } from "../options.js";

interface ServeOptions {
  host: string;
  port: number;
  tasks?: string;
  memory?: MemoryKind;
  tokenFile?: string;
  origin?: string[];
  drain: number;
  grace?: number;
  idle?: number;
  lifetime?: number;
  maxSessions?: number;
  memoryShare?: number;
  /** A folder; false for none; undefined for the default one. */
  record?: string | false;
  recordBudget?: number;
  recordStates?: boolean;
  logLevel: string;
  stopWithStdin?: boolean;
  json?: boolean;
}

/** Seconds after the drain time when the process ends whatever still runs. */
const hardStopSeconds = 5;

export function define(command: Command): void {
  command
    .option("--port <n>", "port; 0 for any free one", integer(0, 65_535), 8080)
    .option("--host <address>", "address to listen on; any but loopback needs a token", "127.0.0.1")
    .option("--tasks <dir>", "folder of tasks to serve")
    .option("--memory <kind>", "guest memory: soft (default) or uffd", memoryKind)
    .option("--token-file <file>", "file with the bearer token (or set SHINKEN_TOKEN)")
    .option("--origin <url>", "let web pages of this origin in; repeatable", repeated)
    .option("--drain <seconds>", "time that open sessions get after SIGTERM", seconds, 10)
    .option("--grace <seconds>", "time that a session outlives its connection", seconds)
    .option("--idle <seconds>", "time after which a session without requests is closed", seconds)
    .option("--lifetime <seconds>", "time after which a session is closed in any case", seconds)
    .option("--max-sessions <n>", "sessions at a time", integer(1))
    .option(
      "--memory-share <percent>",
      "of the host's or control group's memory; beyond it forks are refused (default: 90)",
      integer(1, 100),
    )
    .option("--record <dir>", "folder for the bundles of episodes (default: replays in the state folder)")
    .option("--no-record", "keep no bundles")
    .option(
      "--record-states",
      "keep the machines in which episodes end, too; they hold whatever the machine's memory does",
    )
    .option(
      "--record-budget <mib>",
      "what the default folder may hold before the oldest bundles go (default: 4096)",
      integer(1),
    )
    .addOption(
      new Option("--log-level <level>", "log to standard error from this level on")
        .choices(["silent", "error", "warn", "info", "debug"])
        .default("info"),
    )
    .option("--stop-with-stdin", "also drain when standard input ends; for programs that start a server")
    .option("--json", 'first line on standard output: {"url":...,"pid":...}')
    .addHelpText(
      "after",
      "\nExample:\n  shinken serve --tasks tasks/demo --port 8080\n\nSIGTERM or SIGINT drains: no new sessions, open ones may finish within --drain seconds; a second one ends at once.\nExit codes: 0 drained, 2 usage, 3 cannot listen or no machine can be made.",
    )
    .action(serve);
}

async function serve(options: ServeOptions): Promise<void> {
  const [{ startServer }, { EchoEnvironment }, { openBackend }, { pino, destination }, { version }] =
    await Promise.all([
      import("../../server/index.js"),
      import("../../env/echo.js"),
      import("../backend.js"),
      import("pino"),
      import("../version.js"),
    ]);
  const out = destination(2);
  const log = pino({ level: options.logLevel }, out);
  const unwritable = new Promise<unknown>((resolve) => out.on("error", resolve));
  const backend = await openBackend({
    tasks: options.tasks,
    memory: options.memory,
    memoryShare: options.memoryShare === undefined ? undefined : options.memoryShare / 100,
  });
  const token = readToken(options.tokenFile, "SHINKEN_TOKEN");
  const recorder = await openRecorder(options.record, [token ?? ""], {
    budgetMiB: options.recordBudget,
    states: options.recordStates,
  });
  const server = await startServer({
    factory: recorder === undefined ? backend.factory : recorder.factory(backend),
    makeEcho: (echo) => {
      const environment = new EchoEnvironment();
      return recorder?.environment(environment, echo) ?? environment;
    },
    log,
    host: options.host,
    port: options.port,
    token,
    origins: options.origin,
    limits: limitsOf(options),
    serverName: `shinken-gym/${version()}`,
    machines: () => backend.openMachines(),
    guestMemory: () => backend.guestMemory(),
    engine: () => backend.engine(),
    refusedForks: () => backend.provider.refusedForks(),
    killedForks: () => backend.killedForks(),
    recorder: recorder === undefined ? undefined : () => recorder.stats(),
  });

  const ended = new Promise<void>((resolve) => {
    let asked = 0;
    const drain = (why: string) => {
      if (++asked > 1) process.exit(1);
      log.info({ why, seconds: options.drain }, "draining");
      setTimeout(() => process.exit(1), (options.drain + hardStopSeconds) * 1000).unref();
      void server.drain(options.drain).then(resolve);
    };
    process.on("SIGTERM", drain);
    process.on("SIGINT", drain);
    if (options.stopWithStdin === true) process.stdin.on("end", () => drain("stdin")).resume();
  });

  const address = server.url.replace(/\/v\d+$/, "");
  if (options.json === true) process.stdout.write(`${JSON.stringify({ url: address, pid: process.pid })}\n`);
  else process.stdout.write(`listening on ${address} (tasks: ${backend.factory.tasks().length})\n`);
  await ended;
  await recorder?.close();
  await backend.close();
  log.info("drained");
  // What waits to be written would be written at the exit, ahead of what is on its way by then.
  await Promise.race([unwritable, written(out)]);
  process.exit(0);
}

/** Ends a log and settles when all of it is written. */
function written(out: EventEmitter & { end(): void }): Promise<void> {
  return new Promise((resolve) => {
    out.once("close", resolve).end();
  });
}

function limitsOf(options: ServeOptions): LimitOverrides {
  return {
    ...(options.grace === undefined ? {} : { graceSeconds: options.grace }),
    ...(options.idle === undefined ? {} : { idleSeconds: options.idle }),
    ...(options.lifetime === undefined ? {} : { lifetimeSeconds: options.lifetime }),
    ...(options.maxSessions === undefined ? {} : { sessions: options.maxSessions }),
  };
}
