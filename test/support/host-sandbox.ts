/**
 * A `Sandbox` on the host, for tests that need hands and eyes but no machine. What it is: a temporary folder that is
 * mounted over /home, /tmp, /srv, /opt and /var in a mount and process namespace of its own, so that commands see
 * guest paths and only each other. What it fakes, and how:
 *
 * - users: there is one, called agent, which may do everything; `user` is ignored, HOME is /home/agent;
 * - forks and goldens: copies of the folder; processes are not carried along;
 * - guest time: counted, not measured: one millisecond a call, the time limit where a command ran into it;
 * - instructions: 1,000 a call, so that they are equal for equal inputs;
 * - a budget: refuses calls once it is used up; a command in the middle is not stopped;
 * - the digest: of the files alone;
 * - a cancel: kills the command that runs;
 * - death: `kill()` makes every later call fail as a dead machine does.
 *
 * It needs `unshare` with user namespaces; `hostSandboxAvailable()` says whether the host has them.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import * as fs from "node:fs";
import * as os from "node:os";
import { dirname, join } from "node:path";
import { ShinkenError } from "../../src/errors/index.js";
import type { MachineBudget } from "../../src/sandbox/budget.js";
import type {
  Dialogue,
  ExecRequest,
  ExecResult,
  ExecStream,
  FileStat,
  ForkKind,
  ForkOptions,
  Golden,
  GoldenKey,
  ProcessInfo,
  ReadOptions,
  Sandbox,
  SandboxProvider,
  SandboxStats,
  WriteOptions,
} from "../../src/sandbox/sandbox.js";

const mounted = ["home", "srv", "opt", "var", "tmp"] as const;
const instructionsPerCall = 1_000;
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
  const probe = spawnSync("unshare", [...namespaces, "mount", "--bind", "/tmp", "/tmp"]);
  return probe.status === 0;
}

function guestError(operation: string, path: string, error: unknown): ShinkenError {
  const code = (error as NodeJS.ErrnoException).code ?? "EIO";
  return new ShinkenError("guest_error", `${operation} ${path}: ${code}`, { cause: error });
}

export class HostSandbox implements Sandbox {
  readonly id = randomUUID();
  readonly readyMs = 1;
  closed = false;
  #dead: ShinkenError | null = null;
  #calls = 0;
  #extraMs = 0;
  /** Ends the command that runs. */
  #stop: (() => void) | null = null;
  readonly #root: string;
  readonly #provider: HostProvider;
  readonly #holder: ChildProcess;
  readonly #inside: Promise<number>;
  /** Seeds given to forks, for tests that look at them. */
  readonly seed: Uint8Array | undefined;
  readonly #budget: MachineBudget | undefined;

  constructor(provider: HostProvider, root: string, { seed, budget }: ForkOptions = {}) {
    this.#provider = provider;
    this.#budget = budget;
    this.#root = root;
    this.seed = seed;
    for (const name of mounted) fs.mkdirSync(join(root, name), { recursive: true, mode: 0o755 });
    fs.mkdirSync(join(root, "home/agent"), { recursive: true });
    fs.writeFileSync(
      join(root, ".passwd"),
      `agent:x:0:0::/home/agent:/bin/bash
${fs.readFileSync("/etc/passwd", "utf8")}`,
    );
    const mounts = [
      `mount --bind '${join(root, ".passwd")}' /etc/passwd`,
      ...mounted.map((name) => `mount --bind '${join(root, name)}' /${name}`),
    ].join(" && ");
    this.#holder = spawn(
      "unshare",
      [
        ...namespaces,
        "--kill-child",
        "--mount-proc",
        "sh",
        "-c",
        `${mounts} && exec sh -c 'echo ready; exec sleep infinity'`,
      ],
      { stdio: ["ignore", "pipe", "ignore"] },
    );
    provider.machines.add(this);
    this.#inside = new Promise((resolve, reject) => {
      this.#holder.once("exit", () => reject(new Error("the namespace could not be made")));
      this.#holder.stdout?.once("data", () => {
        // A machine that was closed at once has no children any more.
        try {
          const children = fs.readFileSync(
            `/proc/${this.#holder.pid}/task/${this.#holder.pid}/children`,
            "utf8",
          );
          resolve(Number(children.trim().split(" ")[0]));
        } catch (error) {
          reject(error as Error);
        }
      });
    });
    this.#inside.catch(() => undefined);
  }

  /** From now on the machine is dead, as after a kernel panic. */
  kill(code: "machine_died" | "agent_protocol" = "machine_died"): void {
    this.#dead = new ShinkenError(code, "the machine was killed by the test");
  }

  /** Counts a call and refuses it on a closed or dead machine. */
  #call(): void {
    if (this.closed) throw new ShinkenError("machine_closed", "the machine was closed");
    if (this.#dead !== null) throw this.#dead;
    this.#budget?.check();
    this.#budget?.spend({ guestMs: 1, instructions: instructionsPerCall });
    this.#calls += 1;
  }

  #host(path: string): string {
    if (!path.startsWith("/")) throw new ShinkenError("guest_error", `${path}: EINVAL, not an absolute path`);
    const top = path.split("/")[1] ?? "";
    return (mounted as readonly string[]).includes(top) ? join(this.#root, path) : path;
  }

  async exec(request: ExecRequest): Promise<ExecResult> {
    this.#call();
    const inside = await this.#inside;
    const base = {
      PATH: "/usr/local/bin:/usr/bin:/bin",
      HOME: "/home/agent",
      USER: "agent",
      LANG: "C.UTF-8",
      TERM: "dumb",
    };
    const cwd = request.cwd ?? "/home/agent";
    if (!fs.existsSync(this.#host(cwd))) throw new ShinkenError("guest_error", `chdir ${cwd}: ENOENT`);
    const child = spawn(
      "nsenter",
      [
        "--target",
        String(inside),
        ...(inUserNamespace ? ["--user", "--preserve-credentials"] : []),
        "--mount",
        "--pid",
        "--",
        "env",
        "-C",
        cwd,
        "--",
        ...request.argv,
      ],
      {
        env: request.cleanEnv === true ? { ...request.env } : { ...base, ...request.env },
        detached: true,
        stdio: ["pipe", "pipe", "pipe"],
      },
    );
    const keep = request.maxOutputBytes ?? 1024 * 1024;
    const streams = { stdout: collect(child.stdout, keep), stderr: collect(child.stderr, keep) };
    child.stdin.on("error", () => undefined);
    child.stdin.end(request.stdin ?? "");
    let timedOut = false;
    let cancelled = false;
    this.#stop = () => {
      cancelled = true;
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    };
    const limit = request.timeoutMs ?? 600_000;
    const timer = setTimeout(
      () => {
        timedOut = true;
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      },
      Math.min(limit, 2_000),
    );
    const [exitCode, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
      // "exit" and not "close": a background job may hold the pipes open.
      child.once("exit", (code, killed) => setTimeout(() => resolve([code, killed]), 20));
    });
    clearTimeout(timer);
    this.#stop = null;
    child.stdout.destroy();
    child.stderr.destroy();
    if (cancelled) throw new ShinkenError("cancelled", "the command was cancelled");
    if (timedOut) {
      this.#extraMs += limit;
      this.#budget?.spend({ guestMs: limit, instructions: 0 });
    }
    if (exitCode === 127 && /env: .*No such file/.test(Buffer.concat(streams.stderr.kept).toString())) {
      throw new ShinkenError("guest_error", `exec ${request.argv[0]}: ENOENT`);
    }
    return {
      exitCode: timedOut ? null : exitCode,
      signal: timedOut ? 9 : signal === null ? null : os.constants.signals[signal],
      timedOut,
      oomKilled: false,
      stdout: Buffer.concat(streams.stdout.kept),
      stderr: Buffer.concat(streams.stderr.kept),
      stdoutDropped: streams.stdout.dropped,
      stderrDropped: streams.stderr.dropped,
      guestMs: 1,
    };
  }

  dialogue(): Promise<Dialogue> {
    throw new Error("the host sandbox has no dialogues");
  }

  stream(): ExecStream {
    throw new Error("the host sandbox has no streams");
  }

  async readFile(path: string, options: ReadOptions = {}): Promise<Uint8Array> {
    this.#call();
    try {
      const whole = fs.readFileSync(this.#host(path));
      const from = options.offset ?? 0;
      return whole.subarray(from, options.limit === undefined ? undefined : from + options.limit);
    } catch (error) {
      throw guestError("read", path, error);
    }
  }

  async writeFile(path: string, data: Uint8Array | string, options: WriteOptions = {}): Promise<void> {
    this.#call();
    const host = this.#host(path);
    try {
      if (options.parents !== false) fs.mkdirSync(dirname(host), { recursive: true });
      fs.writeFileSync(host, data, { flag: options.append === true ? "a" : "w" });
      if (options.mode !== undefined) fs.chmodSync(host, options.mode);
    } catch (error) {
      throw guestError("write", path, error);
    }
  }

  async stat(path: string): Promise<FileStat> {
    this.#call();
    try {
      return toStat(path, this.#host(path));
    } catch (error) {
      throw guestError("stat", path, error);
    }
  }

  async statIfExists(path: string): Promise<FileStat | null> {
    this.#call();
    return fs.lstatSync(this.#host(path), { throwIfNoEntry: false }) === undefined
      ? null
      : toStat(path, this.#host(path));
  }

  async list(path: string, limit = 10_000): Promise<FileStat[]> {
    this.#call();
    try {
      const names = fs.readdirSync(this.#host(path)).sort().slice(0, limit);
      return names.map((name) => toStat(join(path, name), join(this.#host(path), name)));
    } catch (error) {
      throw guestError("list", path, error);
    }
  }

  async hash(path: string): Promise<string> {
    return createHash("sha256")
      .update(await this.readFile(path))
      .digest("hex");
  }

  async processes(): Promise<ProcessInfo[]> {
    const result = await this.exec({ argv: ["ps", "-eo", "pid=,ppid=,uid=,stat=,comm=,args="] });
    return Buffer.from(result.stdout)
      .toString()
      .trim()
      .split("\n")
      .map((line) => {
        const [pid, ppid, uid, state, name, ...argv] = line.trim().split(/\s+/);
        return {
          pid: Number(pid),
          ppid: Number(ppid),
          uid: Number(uid),
          state: (state ?? "?").charAt(0),
          name: name ?? "",
          argv,
        };
      });
  }

  async wait(ms: number): Promise<void> {
    this.#call();
    this.#extraMs += ms;
    // Background jobs run in real time here; a little of it must pass for them too.
    await new Promise((resolve) => setTimeout(resolve, Math.min(ms, 300)));
  }

  async fork(kind: ForkKind, options: ForkOptions = {}): Promise<HostSandbox> {
    this.#call();
    if (this.#provider.failForks > 0) {
      this.#provider.failForks -= 1;
      throw new ShinkenError("fork_failed", "the test made this fork fail");
    }
    this.#provider.forks.push(kind);
    return new HostSandbox(this.#provider, this.#provider.copy(this.#root), options);
  }

  async freeze(_key: GoldenKey): Promise<Golden> {
    this.#call();
    return new HostGolden(this.#provider, this.#provider.copy(this.#root));
  }

  async digest(): Promise<string> {
    this.#call();
    const listing = execFileSync(
      "sh",
      ["-c", "find . -type f -print0 | LC_ALL=C sort -z | xargs -0r sha256sum; find . | LC_ALL=C sort"],
      { cwd: this.#root },
    );
    return createHash("sha256").update(listing).digest("hex");
  }

  stats(): SandboxStats {
    return {
      instructions: this.#calls * instructionsPerCall,
      guestMs: this.#calls + this.#extraMs,
      privateBytes: 0,
      memoryBytes: 512 * 1024 * 1024,
    };
  }

  cancel(): void {
    this.#stop?.();
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    this.#provider.machines.delete(this);
    const { exitCode, signalCode } = this.#holder;
    if (exitCode === null && signalCode === null) {
      const gone = new Promise((resolve) => this.#holder.once("exit", resolve));
      this.#holder.kill("SIGKILL");
      await gone;
    }
    fs.rmSync(this.#root, { recursive: true, force: true });
  }
}

class HostGolden implements Golden {
  readonly digest = randomUUID();
  readonly memoryBytes = 512 * 1024 * 1024;
  #closed = false;
  readonly #provider: HostProvider;
  readonly #root: string;

  constructor(provider: HostProvider, root: string) {
    this.#provider = provider;
    this.#root = root;
    provider.goldens += 1;
  }

  async fork(options: ForkOptions = {}): Promise<HostSandbox> {
    if (this.#closed) throw new ShinkenError("machine_closed", "the golden was closed");
    if (this.#provider.failForks > 0) {
      this.#provider.failForks -= 1;
      throw new ShinkenError("fork_failed", "the test made this fork fail");
    }
    this.#provider.seeds.push(options.seed === undefined ? null : Buffer.from(options.seed).toString("hex"));
    return new HostSandbox(this.#provider, this.#provider.copy(this.#root), options);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#provider.goldens -= 1;
    fs.rmSync(this.#root, { recursive: true, force: true });
  }
}

export class HostProvider implements SandboxProvider {
  readonly name = "host";
  readonly machines = new Set<HostSandbox>();
  /** Goldens that are open. */
  goldens = 0;
  /** Setups that ran, by digest. */
  readonly setups: string[] = [];
  /** Kinds of forks of running machines, in order. */
  readonly forks: ForkKind[] = [];
  /** Seeds of the forks of goldens, hex, in order. */
  readonly seeds: (string | null)[] = [];
  /** This many of the next forks fail. */
  failForks = 0;
  readonly #folder = fs.mkdtempSync(join(os.tmpdir(), "shinken-host-"));

  /** A copy of a machine's folder. */
  copy(root: string): string {
    const target = fs.mkdtempSync(join(this.#folder, "machine-"));
    execFileSync("cp", ["-a", "--reflink=auto", `${root}/.`, target]);
    return target;
  }

  async imageGolden(_image: string): Promise<Golden> {
    const root = fs.mkdtempSync(join(this.#folder, "image-"));
    fs.mkdirSync(join(root, "home/agent"), { recursive: true });
    return new HostGolden(this, root);
  }

  async setupGolden(
    image: string,
    digest: string,
    setup: (sandbox: Sandbox) => Promise<void>,
  ): Promise<Golden> {
    this.setups.push(digest);
    const golden = await this.imageGolden(image);
    const machine = await golden.fork({ seed: new Uint8Array(32) });
    this.seeds.pop();
    try {
      await setup(machine);
      return await machine.freeze({ image, setup: digest, seed: "", memoryMiB: 512 });
    } finally {
      await machine.close();
      golden.close();
    }
  }

  openMachines(): number {
    return this.machines.size;
  }

  async close(): Promise<void> {
    for (const machine of [...this.machines]) await machine.close();
    fs.rmSync(this.#folder, { recursive: true, force: true });
  }
}

function collect(stream: NodeJS.ReadableStream, keep: number): { kept: Buffer[]; dropped: number } {
  const state = { kept: [] as Buffer[], dropped: 0, size: 0 };
  stream.on("data", (chunk: Buffer) => {
    const room = Math.max(0, keep - state.size);
    if (room > 0) state.kept.push(chunk.subarray(0, room));
    state.size += Math.min(room, chunk.length);
    state.dropped += Math.max(0, chunk.length - room);
  });
  return state;
}

function toStat(path: string, host: string): FileStat {
  const stat = fs.lstatSync(host);
  const type = stat.isSymbolicLink()
    ? "symlink"
    : stat.isDirectory()
      ? "directory"
      : stat.isFIFO()
        ? "fifo"
        : stat.isSocket()
          ? "socket"
          : "file";
  return {
    path,
    type,
    size: stat.size,
    mode: stat.mode & 0o7777,
    uid: stat.uid,
    gid: stat.gid,
    mtime: Math.floor(stat.mtimeMs / 1_000),
    target: type === "symlink" ? fs.readlinkSync(host) : undefined,
  };
}
