/** A mount and process namespace in which a folder of the host stands for the guest's writable ones. */
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";

/** Folders of the guest that lie in the namespace's own; everything else is the host's. */
export const mounted: readonly string[] = ["home", "srv", "opt", "var", "tmp"];

/** Root needs no user namespace; without one, programs may also drop groups. */
const namespaces = [
  ...(process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"]),
  "--mount",
  "--pid",
  "--fork",
];
const inUserNamespace = namespaces.includes("--user");

/** Whether this host lets us make the namespaces. */
export function hostSandboxAvailable(): boolean {
  return spawnSync("unshare", [...namespaces, "mount", "--bind", "/tmp", "/tmp"]).status === 0;
}

/** Holds a namespace over a folder until it is closed. */
export class HostNamespace {
  readonly #holder: ChildProcess;
  /** Process id, on the host, of a process inside. */
  readonly #inside: Promise<number>;

  constructor(root: string) {
    for (const name of mounted) fs.mkdirSync(join(root, name), { recursive: true, mode: 0o755 });
    fs.mkdirSync(join(root, "home/agent"), { recursive: true });
    fs.writeFileSync(
      join(root, ".passwd"),
      `agent:x:0:0::/home/agent:/bin/bash\n${fs.readFileSync("/etc/passwd", "utf8")}`,
    );
    const mounts = [
      `mount --bind '${join(root, ".passwd")}' /etc/passwd`,
      ...mounted.map((name) => `mount --bind '${join(root, name)}' /${name}`),
    ].join(" && ");
    const script = `${mounts} && exec sh -c 'echo ready; exec sleep infinity'`;
    const holder = spawn("unshare", [...namespaces, "--kill-child", "--mount-proc", "sh", "-c", script], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    this.#holder = holder;
    this.#inside = new Promise((resolve, reject) => {
      holder.once("exit", () => reject(new Error("the namespace could not be made")));
      holder.stdout.once("data", () => {
        // A machine that was closed at once has no children any more.
        try {
          const children = fs.readFileSync(`/proc/${holder.pid}/task/${holder.pid}/children`, "utf8");
          resolve(Number(children.trim().split(" ")[0]));
        } catch (error) {
          reject(new Error("the namespace has gone", { cause: error }));
        }
      });
    });
    this.#inside.catch(() => undefined);
  }

  /** Starts a command inside, in a process group of its own. */
  async spawn(
    argv: readonly string[],
    cwd: string,
    env: NodeJS.ProcessEnv,
  ): Promise<ChildProcessWithoutNullStreams> {
    const user = inUserNamespace ? ["--user", "--preserve-credentials"] : [];
    const enter = ["--target", String(await this.#inside), ...user, "--mount", "--pid"];
    return spawn("nsenter", [...enter, "--", "env", "-C", cwd, "--", ...argv], {
      env,
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
    });
  }

  /** Ends every process inside. */
  async close(): Promise<void> {
    const { exitCode, signalCode } = this.#holder;
    if (exitCode !== null || signalCode !== null) return;
    const gone = new Promise((resolve) => this.#holder.once("exit", resolve));
    this.#holder.kill("SIGKILL");
    await gone;
  }
}
