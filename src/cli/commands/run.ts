import { type Command, InvalidArgumentError } from "commander";
import { GuestError } from "../../sandbox/agent/failures.js";
import type { ExecResult, ExecStream, Sandbox } from "../../sandbox/sandbox.js";
import { runFailed } from "../catalogue.js";
import { report } from "../failure.js";
import { integer, type MemoryChoice, memoryOrKind, pair, seconds } from "../options.js";
import { copyIn, fetchOut } from "../transfer.js";

interface RunOptions {
  image: string;
  memory?: MemoryChoice;
  seed?: number;
  copy?: [string, string][];
  fetch?: [string, string][];
  user?: string;
  cwd?: string;
  env?: Record<string, string>;
  timeout?: number;
  terminal?: boolean;
}

/** As of timeout(1). */
const timedOutCode = 124;
/** A shell's code for a command that a signal ended is this plus the signal. */
const signalBase = 128;

export function define(command: Command): void {
  command
    .argument("<command...>", "program and arguments; for a shell: sh -c '...'")
    .passThroughOptions()
    .option("--image <name>", "image of the machine", "shell")
    .option(
      "--memory <MiB|kind>",
      "memory of the machine in MiB (default: 512), or its kind: soft, uffd; repeatable",
      memoryOrKind,
    )
    .option("--seed <n>", "the same seed, the same machine", integer(0))
    .option("--copy <host:guest>", "copy a file or folder in first; repeatable", pairs)
    .option("--fetch <guest:host>", "copy a file or folder out afterwards; repeatable", pairs)
    .option("--user <name>", "user in the guest (default: agent)")
    .option("--cwd <dir>", "folder in the guest (default: the user's home)")
    .option("--env <name=value>", "environment variable; repeatable", variables)
    .option("--timeout <seconds>", "guest time after which the command is killed", seconds)
    .option("-t, --terminal", "give the command a terminal")
    .addHelpText(
      "after",
      "\nExamples:\n  shinken run -- uname -a\n  shinken run -t bash\n  shinken run --copy data.csv:data.csv --fetch out.json:out.json -- python3 -c '...'\n\nExit codes: the command's own; 128 + n if signal n ended it, 124 after --timeout, 127 if there is no such program, 126 if it cannot be run, 125 if the machine could not be made or used, or a file not be fetched though the command succeeded.",
    )
    .action(async (words: string[], options: RunOptions) => {
      try {
        process.exitCode = await run(words, options);
      } catch (error) {
        report(error, false);
        process.exitCode = failureCode(error);
      }
    });
}

function pairs(text: string, before: [string, string][] | undefined): [string, string][] {
  return [...(before ?? []), pair(text)];
}

function variables(text: string, before: Record<string, string> | undefined): Record<string, string> {
  const at = text.indexOf("=");
  if (at <= 0) throw new InvalidArgumentError("must be NAME=VALUE.");
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

async function run(argv: readonly string[], options: RunOptions): Promise<number> {
  const [{ MicrovmProvider }, { forkSeed }] = await Promise.all([
    import("../../sandbox/microvm/provider.js"),
    import("../../env/session/seeds.js"),
  ]);
  const provider = new MicrovmProvider({ memory: options.memory?.kind });
  try {
    const golden = await provider.imageGolden(options.image, {
      ...(options.memory?.mib === undefined ? {} : { memoryMiB: options.memory.mib }),
      onProgress: (line) => process.stderr.write(`${line}\n`),
    });
    const machine = await golden.fork(
      options.seed === undefined ? {} : { seed: forkSeed(options.seed, "run") },
    );
    for (const [host, guest] of options.copy ?? []) await copyIn(machine, host, guest, options.user);
    const result = await execute(machine, argv, options);
    const fetched = await fetchAll(machine, options);
    // A command that failed has often not made what was to be fetched; its own code says more.
    return exitCodeOf(result) || (fetched ? 0 : runFailed);
  } finally {
    await provider.close();
  }
}

/** Fetches what can be fetched and names the rest; true if that was all. */
async function fetchAll(machine: Sandbox, options: RunOptions): Promise<boolean> {
  let all = true;
  for (const [guest, host] of options.fetch ?? []) {
    try {
      await fetchOut(machine, guest, host, options.user);
    } catch (error) {
      report(error, false);
      all = false;
    }
  }
  return all;
}

async function execute(machine: Sandbox, argv: readonly string[], options: RunOptions): Promise<ExecResult> {
  const terminal = options.terminal === true ? terminalSize() : undefined;
  const term = process.env["TERM"];
  const stream = machine.stream(
    {
      argv,
      user: options.user,
      cwd: options.cwd,
      env: { ...(terminal !== undefined && term !== undefined ? { TERM: term } : {}), ...options.env },
      ...(options.timeout === undefined ? {} : { timeoutMs: options.timeout * 1000 }),
    },
    { terminal },
  );
  stream.onOutput((channel, chunk) => {
    // The chunk belongs to the machine; the write may happen later.
    (channel === "stdout" ? process.stdout : process.stderr).write(Buffer.from(chunk));
  });
  const disconnect = connectInput(stream, terminal !== undefined);
  try {
    return await stream.done;
  } finally {
    disconnect();
  }
}

/** Passes standard input, the terminal's size and signals on; the function that is returned ends that. */
function connectInput(stream: ExecStream, terminal: boolean): () => void {
  const { stdin, stdout } = process;
  const raw = terminal && stdin.isTTY;
  // What the command does not read stays with whoever writes to us.
  const onData = (chunk: Buffer) => {
    if (!stream.write(chunk)) stdin.pause();
  };
  stream.onDrain(() => {
    stdin.resume();
  });
  const onEnd = () => {
    stream.end();
  };
  const onResize = () => {
    stream.resize(stdout.columns, stdout.rows);
  };
  const onSignal = () => {
    stream.kill();
  };
  // Whoever read our output has gone (as `head` does): so has the command's reason to go on.
  stdout.on("error", onSignal);
  if (raw) stdin.setRawMode(true);
  stdin.on("data", onData).on("end", onEnd);
  if (terminal) stdout.on("resize", onResize);
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal).on("SIGHUP", onSignal);
  return () => {
    if (raw) stdin.setRawMode(false);
    stdin.off("data", onData).off("end", onEnd).destroy();
    stdout.off("resize", onResize);
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal).off("SIGHUP", onSignal);
  };
}

function terminalSize(): { columns: number; rows: number } {
  return { columns: process.stdout.columns || 80, rows: process.stdout.rows || 24 };
}

/** As a shell: 127 where there is no such program, 126 where it cannot be run. */
function failureCode(error: unknown): number {
  if (!(error instanceof GuestError) || error.step !== "exec") return runFailed;
  if (error.errno === "ENOENT") return 127;
  return ["EACCES", "ENOEXEC", "EISDIR"].includes(error.errno) ? 126 : runFailed;
}

function exitCodeOf(result: ExecResult): number {
  if (result.timedOut) return timedOutCode;
  return result.exitCode ?? signalBase + (result.signal ?? 0);
}
