/** The `Sandbox` contract over a namespace and a folder of the host. */
import { createHash, randomUUID } from "node:crypto";
import * as fs from "node:fs";
import { ShinkenError } from "../../../src/errors/index.js";
import type { MachineBudget } from "../../../src/sandbox/budget.js";
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
  SandboxStats,
  WriteOptions,
} from "../../../src/sandbox/sandbox.js";
import { environmentOf, HostCommand } from "./command.js";
import { HostFiles } from "./files.js";
import { HostNamespace } from "./namespace.js";

const instructionsPerCall = 1_000;

/** What a sandbox asks of the provider that it belongs to. */
export interface HostWorld {
  readonly machines: Set<HostSandbox>;
  /** Makes the fork of a running machine's folder, or fails because the test wants it to. */
  fork(root: string, kind: ForkKind, options: ForkOptions): HostSandbox;
  freeze(root: string): Golden;
}

export class HostSandbox implements Sandbox {
  readonly id = randomUUID();
  readonly readyMs = 1;
  closed = false;
  #dead: ShinkenError | null = null;
  #calls = 0;
  #extraMs = 0;
  #running: HostCommand | null = null;
  readonly #world: HostWorld;
  readonly #root: string;
  readonly #files: HostFiles;
  readonly #namespace: HostNamespace;
  readonly #budget: MachineBudget | undefined;

  constructor(world: HostWorld, root: string, { budget }: ForkOptions = {}) {
    this.#world = world;
    this.#budget = budget;
    this.#root = root;
    this.#files = new HostFiles(root);
    this.#namespace = new HostNamespace(root);
    world.machines.add(this);
  }

  /** From now on the machine is dead, as after a kernel panic. */
  kill(code: "machine_died" | "agent_protocol" = "machine_died"): void {
    this.#dead = new ShinkenError(code, "the machine was killed by the test");
  }

  /** Counts a call and does it; rejects on a closed or dead machine. */
  #call<T>(work: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve) => {
      if (this.closed) throw new ShinkenError("machine_closed", "the machine was closed");
      if (this.#dead !== null) throw this.#dead;
      this.#budget?.check();
      this.#budget?.spend({ guestMs: 1, instructions: instructionsPerCall });
      this.#calls += 1;
      resolve(work());
    });
  }

  exec(request: ExecRequest): Promise<ExecResult> {
    return this.#call(async () => {
      const cwd = request.cwd ?? "/home/agent";
      if (!this.#files.exists(cwd)) throw new ShinkenError("guest_error", `chdir ${cwd}: ENOENT`);
      const child = await this.#namespace.spawn(request.argv, cwd, environmentOf(request));
      const command = new HostCommand(child, request);
      this.#running = command;
      const limitMs = request.timeoutMs ?? 600_000;
      const result = await command.result(limitMs).finally(() => {
        this.#running = null;
      });
      if (result.timedOut) {
        this.#extraMs += limitMs;
        this.#budget?.spend({ guestMs: limitMs, instructions: 0 });
      }
      return result;
    });
  }

  dialogue(): Promise<Dialogue> {
    throw new Error("the host sandbox has no dialogues");
  }

  stream(): ExecStream {
    throw new Error("the host sandbox has no streams");
  }

  readFile(path: string, options: ReadOptions = {}): Promise<Uint8Array> {
    return this.#call(() => this.#files.read(path, options));
  }

  writeFile(path: string, data: Uint8Array | string, options: WriteOptions = {}): Promise<void> {
    return this.#call(() => this.#files.write(path, data, options));
  }

  stat(path: string): Promise<FileStat> {
    return this.#call(() => this.#files.stat(path));
  }

  statIfExists(path: string): Promise<FileStat | null> {
    return this.#call(() => this.#files.statIfExists(path));
  }

  list(path: string, limit = 10_000): Promise<FileStat[]> {
    return this.#call(() => this.#files.list(path, limit));
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

  wait(ms: number): Promise<void> {
    return this.#call(async () => {
      this.#extraMs += ms;
      // Background jobs run in real time here; a little of it must pass for them too.
      await new Promise((resolve) => setTimeout(resolve, Math.min(ms, 300)));
    });
  }

  fork(kind: ForkKind, options: ForkOptions = {}): Promise<HostSandbox> {
    return this.#call(() => this.#world.fork(this.#root, kind, options));
  }

  freeze(_key: GoldenKey): Promise<Golden> {
    return this.#call(() => this.#world.freeze(this.#root));
  }

  digest(): Promise<string> {
    return this.#call(() => this.#files.digest());
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
    this.#running?.cancel();
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    this.#world.machines.delete(this);
    await this.#namespace.close();
    fs.rmSync(this.#root, { recursive: true, force: true });
  }
}

/** The host sandbox behind the contract, for tests that kill it. */
export function hostSandbox(sandbox: Sandbox): HostSandbox {
  if (!(sandbox instanceof HostSandbox)) throw new Error("the sandbox is not one of the host");
  return sandbox;
}
