/** Drives the agent's host build as a child process: the protocol without a machine. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeFrame, FrameSplitter } from "../../src/sandbox/agent/index.js";
import type { AgentTransport, ExchangeRequest } from "../../src/sandbox/agent/transport.js";

const root = new URL("../../", import.meta.url).pathname;

/** Builds the host's agent if it is older than its sources; its path. */
export function buildHostAgent(): string {
  execFileSync("make", ["-s", "-C", join(root, "native/agent"), "host"], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  return join(root, "build/agent/shinken-agent.host");
}

const kindReply = 2;
const flagFinal = 1;

interface Running {
  request: ExchangeRequest;
  onFrame: (frame: Uint8Array) => void;
  resolve: (outcome: { reason: string }) => void;
}

export class ProcessTransport implements AgentTransport {
  /** Folder that stands for /run/shinken. */
  readonly runFolder: string;
  readonly exited: Promise<number | null>;
  /** Standard error of the agent: a sanitizer's report. */
  complaints = "";
  readonly #child: ChildProcess;
  readonly #splitters = [new FrameSplitter(), new FrameSplitter()];
  /** Frames that came while no exchange ran. */
  #early: Uint8Array[] = [];
  #running: Running | null = null;
  #gone: string | null = null;

  /** `env` is added to the agent's environment. */
  constructor(path: string, env: Record<string, string> = {}) {
    this.runFolder = mkdtempSync(join(tmpdir(), "shinken-agent-"));
    this.#child = spawn(path, [], {
      stdio: ["pipe", "pipe", "pipe", "pipe"],
      env: { ...process.env, SHINKEN_RUN: this.runFolder, ASAN_OPTIONS: "detect_leaks=0", ...env },
    });
    this.#child.stdout?.on("data", (chunk: Buffer) => this.#take(0, chunk));
    this.#child.stdio[3]?.on("data", (chunk: Buffer) => this.#take(1, chunk));
    this.#child.stderr?.on("data", (chunk: Buffer) => {
      this.complaints += chunk.toString();
    });
    for (const stream of [this.#child.stdin, this.#child.stdio[3]]) stream?.on("error", () => undefined);
    this.exited = new Promise((resolve) => {
      this.#child.on("close", (code) => {
        this.#gone = "exited";
        this.#finish("exited");
        rmSync(this.runFolder, { recursive: true, force: true });
        resolve(code);
      });
    });
  }

  #take(port: 0 | 1, chunk: Uint8Array): void {
    for (const frame of (this.#splitters[port] as FrameSplitter).push(chunk)) {
      const running = this.#running;
      if (running === null || running.request.port !== port) {
        this.#early.push(frame);
        continue;
      }
      this.#pass(running, frame);
    }
  }

  #pass(running: Running, frame: Uint8Array): void {
    running.onFrame(frame);
    const header = decodeFrame(frame)?.frame;
    const final = header?.kind === kindReply && (header.flags & flagFinal) !== 0;
    if (final && header.stream === running.request.stream) this.#finish("reply");
  }

  #finish(reason: string): void {
    const running = this.#running;
    this.#running = null;
    running?.resolve({ reason });
  }

  exchange(request: ExchangeRequest, onFrame: (frame: Uint8Array) => void): Promise<{ reason: string }> {
    if (this.#running !== null) throw new Error("an exchange is running");
    if (this.#gone !== null) return Promise.resolve({ reason: this.#gone });
    return new Promise((resolve) => {
      const running = { request, onFrame, resolve };
      this.#running = running;
      const early = this.#early;
      this.#early = [];
      for (const frame of early) this.#pass(running, frame);
      this.post(request.port, request.input);
      if (request.wallMs !== undefined)
        setTimeout(() => this.#running === running && this.#finish("wall_timeout"), request.wallMs);
    });
  }

  post(port: 0 | 1, bytes: Uint8Array): void {
    const stream = port === 0 ? this.#child.stdin : this.#child.stdio[3];
    (stream as NodeJS.WritableStream).write(bytes);
  }

  /** A process on the host has the host's time. */
  expectNobody(): void {}

  cancel(): void {
    this.#finish("cancelled");
  }

  /** Ends the agent as a host does that goes away. */
  async close(): Promise<number | null> {
    this.#child.stdin?.end();
    return this.exited;
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }
}
