/** The same image in QEMU, its agent on the same protocol: what the exec mix is compared with. */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ImageInfo } from "../src/images/index.js";
import { AgentClient } from "../src/sandbox/agent/index.js";
import { FrameSplitter, decodeFrame, Flag, Kind } from "../src/sandbox/agent/frame.js";
import type { AgentTransport, ExchangeRequest } from "../src/sandbox/agent/transport.js";

const run = promisify(execFile);

const PROGRAM = "qemu-system-riscv64";
const MEMORY_MIB = 512;
const SOCKET_MS = 20_000;
const POLL_MS = 20;

/** `plain` lets the guest's clock follow the host's; `icount` counts instructions, QEMU's deterministic mode. */
export type QemuMode = "plain" | "icount";

/** The version's first line, or null where QEMU is missing. */
export async function qemuVersion(): Promise<string | null> {
  try {
    const { stdout } = await run(PROGRAM, ["--version"]);
    return stdout.split("\n")[0] ?? null;
  } catch {
    return null;
  }
}

/** Carries frames over the socket of the agent's port; the machine runs by itself. */
class SocketTransport implements AgentTransport {
  readonly #socket: Socket;
  readonly #splitter = new FrameSplitter();
  #take: ((frame: Uint8Array) => void) | undefined;
  #fail: ((error: Error) => void) | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk: Uint8Array) => {
      for (const frame of this.#splitter.push(chunk)) this.#take?.(frame);
    });
    socket.on("close", () => this.#fail?.(new Error("QEMU went away")));
  }

  async exchange(
    request: ExchangeRequest,
    onFrame: (frame: Uint8Array) => void,
  ): Promise<{ reason: string }> {
    try {
      await new Promise<void>((resolve, reject) => {
        this.#fail = reject;
        this.#take = (bytes) => {
          onFrame(bytes);
          const frame = decodeFrame(bytes)?.frame;
          if (frame?.stream !== request.stream || frame.kind !== Kind.reply) return;
          if ((frame.flags & Flag.final) !== 0) resolve();
        };
        this.#socket.write(request.input);
      });
      return { reason: "reply" };
    } finally {
      this.#take = undefined;
      this.#fail = undefined;
    }
  }

  post(_port: number, bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }
  expectNobody(): void {
    // Its idle waits take host time whoever waits.
  }
  cancel(): void {
    this.#fail?.(new Error("cancelled"));
  }
}

function start(image: ImageInfo, mode: QemuMode, folder: string): ChildProcess {
  const port = (name: string): string[] => [
    ...["-chardev", `socket,id=${name},path=${join(folder, name)},server=on,wait=off`],
    ...["-device", `virtserialport,chardev=${name},name=org.shinken.${name}`],
  ];
  return spawn(
    PROGRAM,
    [
      ...["-M", "virt", "-m", String(MEMORY_MIB), "-smp", "1", "-display", "none", "-monitor", "none"],
      ...["-serial", "null", "-no-reboot", "-kernel", image.kernel, "-initrd", image.initrd],
      ...["-append", image.appendBase],
      ...["-drive", `file=${image.root},if=none,id=root,format=raw,readonly=on`],
      ...["-device", "virtio-blk-device,drive=root", "-device", "virtio-serial-device"],
      ...port("agent"),
      ...port("grader"),
      ...(mode === "icount" ? ["-icount", "shift=0,sleep=off"] : []),
    ],
    { stdio: "ignore" },
  );
}

async function connected(path: string): Promise<Socket> {
  const end = performance.now() + SOCKET_MS;
  while (!existsSync(path)) {
    if (performance.now() > end) throw new Error("QEMU opened no socket");
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return new Promise((resolve, reject) => {
    const socket = connect(path, () => {
      resolve(socket);
    });
    socket.once("error", reject);
  });
}

/** Boots the image, waits for its agent, lets `use` work with it, and ends the machine. `bootMs`: start to ready. */
export async function withQemu<Result>(
  image: ImageInfo,
  mode: QemuMode,
  use: (agent: AgentClient, bootMs: number) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), "shinken-qemu-"));
  const begin = performance.now();
  const qemu = start(image, mode, folder);
  const gone = new Promise<never>((_resolve, reject) => {
    qemu.once("error", reject);
    qemu.once("exit", (code) => {
      reject(new Error(`QEMU ended with ${code}`));
    });
  });
  const work = async (): Promise<Result> => {
    const socket = await connected(join(folder, "agent"));
    try {
      const agent = new AgentClient(new SocketTransport(socket));
      await agent.hello({});
      return await use(agent, performance.now() - begin);
    } finally {
      socket.destroy();
    }
  };
  try {
    return await Promise.race([work(), gone]);
  } finally {
    qemu.removeAllListeners();
    qemu.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  }
}
