/** Readiness: one condition on a machine, awaited in guest time. */
import { ShinkenError } from "../../errors/index.js";
import type { Sandbox } from "../../sandbox/sandbox.js";
import type { Probe } from "../task/index.js";

/** Guest milliseconds between two looks. */
const pollMs = 50;
/** State of a listening socket in /proc/net/tcp (include/net/tcp_states.h, TCP_LISTEN = 10). */
const listening = "0A";

/** Waits until the probe holds. Rejects with `setup_failed` once its deadline in guest time has passed. */
export async function waitReady(sandbox: Sandbox, probe: Probe): Promise<void> {
  const end = sandbox.stats().guestMs + probe.deadline_s * 1_000;
  while (!(await holds(sandbox, probe))) {
    if (sandbox.stats().guestMs >= end) {
      throw new ShinkenError("setup_failed", `not ready after ${probe.deadline_s} s: ${describe(probe)}`);
    }
    await sandbox.wait(pollMs);
  }
}

async function holds(sandbox: Sandbox, probe: Probe): Promise<boolean> {
  if ("file" in probe) return (await sandbox.statIfExists(probe.file)) !== null;
  if ("process" in probe) return hasProcess(sandbox, probe.process);
  if ("port" in probe) return isListening(sandbox, probe.port);
  const { argv, user, cwd, env, exit } = probe.command;
  const result = await sandbox.exec({ argv, user, cwd, env, timeoutMs: probe.deadline_s * 1_000 });
  return result.exitCode === exit;
}

async function hasProcess(
  sandbox: Sandbox,
  wanted: { name?: string | undefined; argv_contains?: string[] | undefined },
): Promise<boolean> {
  return (await sandbox.processes()).some(
    ({ name, argv, state }) =>
      state !== "Z" &&
      (wanted.name === undefined || name === wanted.name || argv[0]?.split("/").at(-1) === wanted.name) &&
      (wanted.argv_contains === undefined || wanted.argv_contains.every((word) => argv.includes(word))),
  );
}

async function isListening(sandbox: Sandbox, port: number): Promise<boolean> {
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  const result = await sandbox.exec({
    argv: ["cat", "/proc/net/tcp", "/proc/net/tcp6"],
    user: "root",
    timeoutMs: 10_000,
  });
  return Buffer.from(result.stdout)
    .toString("latin1")
    .split("\n")
    .some((line) => {
      const [, local, , state] = line.trim().split(/\s+/);
      return state === listening && local?.endsWith(`:${hex}`) === true;
    });
}

function describe(probe: Probe): string {
  if ("file" in probe) return `no ${probe.file}`;
  if ("port" in probe) return `nothing listens on port ${probe.port}`;
  if ("process" in probe) return `no process ${JSON.stringify(probe.process)}`;
  return `${probe.command.argv[0]} does not give exit code ${probe.command.exit}`;
}
