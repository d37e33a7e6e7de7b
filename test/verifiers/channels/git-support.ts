/** Repositories made by the host's git, for tests, and their files as a scripted machine holds them. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { MemorySandbox } from "../../support/memory-sandbox.js";

/** A folder with a repository; git sees no configuration but its own. */
export class Workshop {
  readonly folder = mkdtempSync(join(tmpdir(), "shinken-git-"));
  private clock = 1_700_000_000;

  constructor(...options: string[]) {
    this.git("init", "-q", "-b", "main", ...options);
  }

  git(...words: string[]): string {
    this.clock += 60;
    const date = `${this.clock} +0100`;
    return execFileSync("git", words, {
      cwd: this.folder,
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: this.folder,
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_AUTHOR_NAME: "Ada Ü.",
        GIT_AUTHOR_EMAIL: "ada@example.com",
        GIT_COMMITTER_NAME: "Bo",
        GIT_COMMITTER_EMAIL: "bo@example.com",
        GIT_AUTHOR_DATE: date,
        GIT_COMMITTER_DATE: date,
      },
    });
  }

  write(path: string, text: string, mode = 0o644): void {
    const file = join(this.folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    chmodSync(file, mode);
  }

  commit(message: string, ...options: string[]): void {
    this.git("add", "-A");
    this.git("commit", "-q", "-m", message, ...options);
  }

  lines(...words: string[]): string[] {
    return this.git(...words)
      .split("\n")
      .filter((line) => line !== "");
  }

  /** The same files in a scripted machine. */
  machine(at = "/repo"): MemorySandbox {
    const machine = new MemorySandbox();
    machine.put(at, { type: "directory" });
    const copy = (from: string, to: string): void => {
      for (const name of readdirSync(from)) {
        const [source, target] = [join(from, name), `${to}/${name}`];
        const stat = lstatSync(source);
        if (stat.isSymbolicLink()) machine.put(target, { type: "symlink", target: readlinkSync(source) });
        else if (stat.isDirectory()) {
          machine.put(target, { type: "directory" });
          copy(source, target);
        } else machine.put(target, { type: "file", bytes: readFileSync(source), mode: stat.mode & 0o777 });
      }
    };
    copy(this.folder, at);
    return machine;
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** True where the host has git. */
export function hasGit(): boolean {
  try {
    execFileSync("git", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
