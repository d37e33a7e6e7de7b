/** Goldens and forks as copies of folders, with counts of what is open and of what the code under test asked for. */
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import * as fs from "node:fs";
import * as os from "node:os";
import { join } from "node:path";
import { type ErrorCode, ShinkenError } from "../../../src/errors/index.js";
import type {
  ForkKind,
  ForkOptions,
  Golden,
  Sandbox,
  SandboxProvider,
} from "../../../src/sandbox/sandbox.js";
import { HostSandbox, type HostWorld } from "./sandbox.js";

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

  fork(options: ForkOptions = {}): Promise<HostSandbox> {
    return new Promise((resolve) => {
      if (this.#closed) throw new ShinkenError("machine_closed", "the golden was closed");
      resolve(this.#provider.replica(this.#root, options));
    });
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#provider.goldens -= 1;
    fs.rmSync(this.#root, { recursive: true, force: true });
  }
}

export class HostProvider implements SandboxProvider, HostWorld {
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
  /** With this code. */
  failCode: ErrorCode = "fork_failed";
  /** And only if they are of this kind. */
  failKind: ForkKind | undefined;
  readonly #folder = fs.mkdtempSync(join(os.tmpdir(), "shinken-host-"));

  replica(root: string, options: ForkOptions): HostSandbox {
    this.#failIfWanted();
    const seed = typeof options.seed === "function" ? options.seed() : options.seed;
    this.seeds.push(seed === undefined ? null : Buffer.from(seed).toString("hex"));
    return new HostSandbox(this, this.#copy(root), options);
  }

  fork(root: string, kind: ForkKind, options: ForkOptions): HostSandbox {
    this.#failIfWanted(kind);
    this.forks.push(kind);
    return new HostSandbox(this, this.#copy(root), options);
  }

  freeze(root: string): Golden {
    return new HostGolden(this, this.#copy(root));
  }

  imageGolden(_image: string): Promise<Golden> {
    const root = fs.mkdtempSync(join(this.#folder, "image-"));
    fs.mkdirSync(join(root, "home/agent"), { recursive: true });
    return Promise.resolve(new HostGolden(this, root));
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

  #failIfWanted(kind?: ForkKind): void {
    if (this.failForks === 0 || (this.failKind ?? kind) !== kind) return;
    this.failForks -= 1;
    throw new ShinkenError(this.failCode, "the test made this fork fail");
  }

  #copy(root: string): string {
    const target = fs.mkdtempSync(join(this.#folder, "machine-"));
    execFileSync("cp", ["-a", "--reflink=auto", `${root}/.`, target]);
    return target;
  }
}
