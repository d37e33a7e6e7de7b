/**
 * A scripted machine in memory, for tests only. It fakes files, links, processes, commands and grade forks well enough to
 * drive verifiers; it runs no program, keeps no time and knows no users or rights. Commands are functions given by the
 * test. `hang` makes calls never answer, as a stuck guest would.
 */
import { createHash } from "node:crypto";
import { posix } from "node:path";
import { ShinkenError } from "../../src/errors/index.js";
import type {
  ExecRequest,
  ExecResult,
  FileStat,
  FileType,
  ForkKind,
  ProcessInfo,
  ReadOptions,
  Sandbox,
  WriteOptions,
} from "../../src/sandbox/sandbox.js";

export interface Node {
  type: FileType;
  bytes?: Uint8Array;
  target?: string;
  mode?: number;
  uid?: number;
}

export type Command = (
  request: ExecRequest,
  machine: MemorySandbox,
) => Partial<ExecResult> & { out?: string };

export interface MemoryMachine {
  files?: Record<string, string | Uint8Array | Node>;
  processes?: Partial<ProcessInfo>[];
  /** By the program's path. */
  commands?: Record<string, Command>;
  /** Paths that a folder lists and that are not there when somebody looks. */
  vanished?: string[];
}

/** Counts over a machine and all its forks. */
export interface Counters {
  forks: number;
  open: number;
  calls: string[];
}

function refused(errno: string, path: string): ShinkenError {
  return new ShinkenError("guest_error", `${errno}: ${path}`);
}

export class MemorySandbox implements Sandbox {
  readonly id: string;
  readonly readyMs = null;
  readonly counters: Counters;
  readonly nodes: Map<string, Node>;
  processInfos: ProcessInfo[];
  commands: Record<string, Command>;
  private vanished: ReadonlySet<string>;
  /** Paths, or program paths, whose calls never answer; `*` is every call. */
  hang = new Set<string>();
  private gone = false;
  private release: ((error: Error) => void)[] = [];

  constructor(machine: MemoryMachine = {}, counters: Counters = { forks: 0, open: 0, calls: [] }, id = "m0") {
    this.id = id;
    this.counters = counters;
    this.nodes = new Map([["/", { type: "directory" }]]);
    this.commands = machine.commands ?? {};
    this.vanished = new Set(machine.vanished);
    this.processInfos = (machine.processes ?? []).map((one, index) => ({
      pid: index + 2,
      ppid: 1,
      uid: 1000,
      state: "S",
      name: posix.basename(one.argv?.[0] ?? one.name ?? "x"),
      argv: [],
      ...one,
    }));
    for (const [path, node] of Object.entries(machine.files ?? {})) this.put(path, node);
  }

  /** Puts a file, or any other node, with its folders. */
  put(path: string, node: string | Uint8Array | Node): void {
    for (let folder = posix.dirname(path); !this.nodes.has(folder); folder = posix.dirname(folder)) {
      this.nodes.set(folder, { type: "directory" });
    }
    if (typeof node === "string") this.nodes.set(path, { type: "file", bytes: Buffer.from(node) });
    else if (node instanceof Uint8Array) this.nodes.set(path, { type: "file", bytes: node });
    else this.nodes.set(path, node);
  }

  get closed(): boolean {
    return this.gone;
  }

  private async call(name: string, subject: string): Promise<void> {
    this.counters.calls.push(`${this.id} ${name} ${subject}`);
    if (this.gone) throw new ShinkenError("machine_closed", "the machine was closed");
    await Promise.resolve();
    if (this.hang.has(subject) || this.hang.has("*")) {
      await new Promise<never>((_, reject) => this.release.push(reject));
    }
  }

  private follow(path: string): { path: string; node: Node } | undefined {
    let current = path;
    for (let hop = 0; hop < 40; hop++) {
      const node = this.nodes.get(current);
      if (node?.type !== "symlink") return node === undefined ? undefined : { path: current, node };
      current = posix.resolve(posix.dirname(current), node.target ?? "");
    }
    throw refused("ELOOP", path);
  }

  private describe(path: string, node: Node): FileStat {
    const { type, target } = node;
    const mode = node.mode ?? (type === "directory" ? 0o755 : 0o644);
    const size = node.bytes?.length ?? 0;
    return {
      path,
      type,
      size,
      mode,
      uid: node.uid ?? 1000,
      gid: 1000,
      mtime: 0,
      ...(target === undefined ? {} : { target }),
    };
  }

  async exec(request: ExecRequest): Promise<ExecResult> {
    const program = request.argv[0] ?? "";
    await this.call("exec", program);
    const command = this.commands[program];
    if (command === undefined) throw refused("ENOENT", program);
    const { out, ...rest } = command(request, this);
    const all = Buffer.from(out ?? "");
    const limit = request.maxOutputBytes ?? all.length;
    return {
      exitCode: 0,
      signal: null,
      timedOut: false,
      oomKilled: false,
      stdout: all.subarray(0, limit),
      stderr: new Uint8Array(),
      stdoutDropped: Math.max(0, all.length - limit),
      stderrDropped: 0,
      guestMs: 1,
      ...rest,
    };
  }

  async readFile(path: string, options: ReadOptions = {}): Promise<Uint8Array> {
    await this.call("read", path);
    const found = this.follow(path);
    if (found === undefined) throw refused("ENOENT", path);
    if (found.node.type === "fifo") await new Promise<never>((_, reject) => this.release.push(reject));
    const offset = options.offset ?? 0;
    return (found.node.bytes ?? new Uint8Array()).slice(
      offset,
      offset + (options.limit ?? Number.MAX_SAFE_INTEGER),
    );
  }

  async writeFile(path: string, data: Uint8Array | string, options: WriteOptions = {}): Promise<void> {
    await this.call("write", path);
    this.put(path, {
      type: "file",
      bytes: Buffer.from(data),
      ...(options.mode === undefined ? {} : { mode: options.mode }),
    });
  }

  async stat(path: string): Promise<FileStat> {
    const found = await this.statIfExists(path);
    if (found === null) throw refused("ENOENT", path);
    return found;
  }

  async statIfExists(path: string): Promise<FileStat | null> {
    await this.call("stat", path);
    const node = this.vanished.has(path) ? undefined : this.nodes.get(path);
    return node === undefined ? null : this.describe(path, node);
  }

  async list(path: string, limit = 10_000): Promise<FileStat[]> {
    await this.call("list", path);
    if (this.vanished.has(path)) throw refused("ENOENT", path);
    const folder = path === "/" ? "/" : `${path}/`;
    return [...this.nodes]
      .filter(([one]) => one !== "/" && one.startsWith(folder) && !one.slice(folder.length).includes("/"))
      .map(([one, node]) => this.describe(one, node))
      .sort((a, b) => (a.path < b.path ? -1 : 1))
      .slice(0, limit);
  }

  async hash(path: string): Promise<string> {
    const bytes = await this.readFile(path);
    return createHash("sha256").update(bytes).digest("hex");
  }

  async processes(): Promise<ProcessInfo[]> {
    await this.call("processes", "");
    return structuredClone(this.processInfos);
  }

  async fork(kind: ForkKind): Promise<MemorySandbox> {
    await this.call("fork", kind);
    const child = new MemorySandbox({}, this.counters, `${kind}${++this.counters.forks}`);
    for (const [path, node] of this.nodes) child.nodes.set(path, node);
    child.processInfos = structuredClone(this.processInfos);
    child.commands = this.commands;
    child.vanished = this.vanished;
    child.hang = new Set(this.hang);
    this.counters.open++;
    return child;
  }

  cancel(): void {
    throw new Error("the memory sandbox cancels nothing");
  }

  close(): Promise<void> {
    if (!this.gone && this.id !== "m0") this.counters.open--;
    this.gone = true;
    for (const reject of this.release.splice(0))
      reject(new ShinkenError("machine_closed", "the machine was closed"));
    return Promise.resolve();
  }

  wait(): Promise<void> {
    return Promise.resolve();
  }
  stats(): never {
    throw new Error("not scripted");
  }
  stream(): never {
    throw new Error("not scripted");
  }
  dialogue(): never {
    throw new Error("not scripted");
  }
  freeze(): never {
    throw new Error("not scripted");
  }
  digest(): Promise<string> {
    const nodes = [...this.nodes].map(([path, { bytes, ...node }]) => [
      path,
      node,
      bytes && Buffer.from(bytes).toString("base64"),
    ]);
    return Promise.resolve(createHash("sha256").update(JSON.stringify(nodes)).digest("hex"));
  }
}
