/** The guest's files, seen from the host: guest paths in, errors as the agent gives them out. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { ShinkenError } from "../../../src/errors/index.js";
import type { FileStat, ReadOptions, WriteOptions } from "../../../src/sandbox/sandbox.js";
import { mounted } from "./namespace.js";

export class HostFiles {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  exists(path: string): boolean {
    return fs.existsSync(this.#host(path));
  }

  read(path: string, options: ReadOptions): Uint8Array {
    return attempt("read", path, () => {
      const whole = fs.readFileSync(this.#host(path));
      const from = options.offset ?? 0;
      return whole.subarray(from, options.limit === undefined ? undefined : from + options.limit);
    });
  }

  write(path: string, data: Uint8Array | string, options: WriteOptions): void {
    attempt("write", path, () => {
      const host = this.#host(path);
      if (options.parents !== false) fs.mkdirSync(dirname(host), { recursive: true });
      fs.writeFileSync(host, data, { flag: options.append === true ? "a" : "w" });
      if (options.mode !== undefined) fs.chmodSync(host, options.mode);
    });
  }

  stat(path: string): FileStat {
    return attempt("stat", path, () => toStat(path, this.#host(path)));
  }

  statIfExists(path: string): FileStat | null {
    const there = fs.lstatSync(this.#host(path), { throwIfNoEntry: false }) !== undefined;
    return there ? this.stat(path) : null;
  }

  list(path: string, limit: number): FileStat[] {
    return attempt("list", path, () => {
      const names = fs.readdirSync(this.#host(path)).sort().slice(0, limit);
      return names.map((name) => toStat(join(path, name), join(this.#host(path), name)));
    });
  }

  /** SHA-256 over names and contents of all files, hex. */
  digest(): string {
    const listing = execFileSync(
      "sh",
      ["-c", "find . -type f -print0 | LC_ALL=C sort -z | xargs -0r sha256sum; find . | LC_ALL=C sort"],
      { cwd: this.#root },
    );
    return createHash("sha256").update(listing).digest("hex");
  }

  #host(path: string): string {
    if (!path.startsWith("/")) throw new ShinkenError("guest_error", `${path}: EINVAL, not an absolute path`);
    return mounted.includes(path.split("/")[1] ?? "") ? join(this.#root, path) : path;
  }
}

function attempt<T>(operation: string, path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof ShinkenError) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? "EIO";
    throw new ShinkenError("guest_error", `${operation} ${path}: ${code}`, { cause: error });
  }
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
