/**
 * The host's client of a guest agent: one object for one port of one machine. Requests are served in the order they are made;
 * the machine runs only while one is being served. Every method rejects with a `ShinkenError`.
 */
import type { z } from "zod";
import { ShinkenError } from "../../errors/index.js";
import type {
  ExecRequest,
  ExecResult,
  FileStat,
  Look,
  ProcessInfo,
  ReadOptions,
  StreamOptions,
  WriteOptions,
} from "../sandbox.js";
import { type ExecExtras, graceMs } from "./command.js";
import { AgentDialogue } from "./dialogue.js";
import { exec } from "./exec.js";
import { GuestError, protocolError } from "./failures.js";
import { hash, list, look, readFile, stat, statIfExists, writeFile } from "./files.js";
import { Channel, Op } from "./frame.js";
import { AgentLink, type ExchangeOptions, payloadOf } from "./link.js";
import {
  commandLineRecord,
  emptyReply,
  helloReply,
  listReply,
  parseRecords,
  processInfo,
  processRecord,
  warmReply,
  words,
} from "./replies.js";
import { request } from "./request.js";
import { AgentStream } from "./stream.js";
import type { AgentPort, AgentTransport } from "./transport.js";
import { type ForkAcknowledgement, type ForkPacket, makeUnique } from "./uniqueness.js";

export interface AgentClientOptions {
  /** 0, the agent's own port, if unsaid. */
  port?: AgentPort | undefined;
  /** For a fork: its parent's `nextStream`. */
  firstStream?: number | undefined;
  /**
   * Requests that only look (`stat`, `readFile`, `processes`) are served in one run of the machine when they wait together. For
   * machines in which nothing changes: an answer may be a moment later than its place in the order.
   */
  gathers?: boolean | undefined;
  /** Limits of every request that does not bring its own. */
  limits?: ExchangeOptions | undefined;
}

/** What the agent says of itself. */
export interface AgentHello {
  protocol: 1;
  ports: number;
  /** True for the build that tests run on the host. */
  hostTest: boolean;
  /** Whether the workload has the memory and pids controllers. */
  controllers: boolean;
}

const defaultListed = 10_000;
/** A warm request's paths, in bytes, with room for its other fields. */
const warmBytes = 60_000;
const processCredit = 64 << 20;
/** What 4,096 processes, more than the workload may have, take in records of 4 KiB. */
const processBytes = 16 << 20;

export class AgentClient {
  readonly #link: AgentLink;
  readonly #limits: ExchangeOptions;

  constructor(transport: AgentTransport, options: AgentClientOptions = {}) {
    this.#link = new AgentLink(transport, options.port ?? 0, options.firstStream, options.gathers);
    this.#limits = options.limits ?? {};
  }

  /** The number that the next stream will have. */
  get nextStream(): number {
    return this.#link.nextStream;
  }

  async hello(limits: ExchangeOptions = this.#limits): Promise<AgentHello> {
    const reply = await request(this.#link, Op.hello, "hello", {}, helloReply, limits);
    return {
      protocol: reply.protocol,
      ports: reply.ports,
      hostTest: reply.host_test,
      controllers: reply.controllers,
    };
  }

  /** Runs a command to its end. `guest_error` if it could not be started. */
  async exec(
    command: ExecRequest,
    extras: ExecExtras = {},
    limits: ExchangeOptions = this.#limits,
  ): Promise<ExecResult> {
    return exec(this.#link, command, extras, limits);
  }

  /** Starts a command in its turn; its output goes to the listener while it runs. */
  stream(
    command: ExecRequest,
    options: StreamOptions & ExecExtras = {},
    limits: ExchangeOptions = this.#limits,
  ): AgentStream {
    return new AgentStream(this.#link, command, options, limits);
  }

  /** Opens a program to talk with over many requests. */
  dialogue(
    command: ExecRequest,
    extras: ExecExtras = {},
    limits: ExchangeOptions = this.#limits,
  ): Promise<AgentDialogue> {
    return AgentDialogue.open(this.#link, command, extras, limits);
  }

  readFile(
    path: string,
    options: ReadOptions = {},
    limits: ExchangeOptions = this.#limits,
  ): Promise<Uint8Array> {
    return readFile(this.#link, path, options, limits);
  }

  writeFile(
    path: string,
    data: Uint8Array | string,
    options: WriteOptions = {},
    limits: ExchangeOptions = this.#limits,
  ): Promise<void> {
    return writeFile(this.#link, path, data, options, limits);
  }

  /** Does not follow a final symbolic link. */
  stat(path: string, limits: ExchangeOptions = this.#limits): Promise<FileStat> {
    return stat(this.#link, path, limits);
  }

  statIfExists(path: string, limits: ExchangeOptions = this.#limits): Promise<FileStat | null> {
    return statIfExists(this.#link, path, limits);
  }

  /** What lies at a path itself, with the content of a small file; null where nothing is. */
  look(path: string, limits: ExchangeOptions = this.#limits): Promise<Look | null> {
    return look(this.#link, path, limits);
  }

  list(path: string, limit = defaultListed, limits: ExchangeOptions = this.#limits): Promise<FileStat[]> {
    return list(this.#link, path, limit, limits);
  }

  /** `too_large` beyond `limit` bytes. */
  hash(path: string, limit?: number, limits: ExchangeOptions = this.#limits): Promise<string> {
    return hash(this.#link, path, limit, limits);
  }

  /** Processes of the guest without kernel threads, sorted by pid. */
  async processes(limits: ExchangeOptions = this.#limits): Promise<ProcessInfo[]> {
    const records = await this.#processRecords(processRecord, {}, limits);
    return records.map(processInfo).sort((a, b) => a.pid - b.pid);
  }

  /** Command lines of the processes that have one, sorted by pid. */
  async commandLines(limits: ExchangeOptions = this.#limits): Promise<Pick<ProcessInfo, "pid" | "argv">[]> {
    let records: [pid: number, argv: Uint8Array[]][];
    try {
      records = await this.#processRecords(commandLineRecord, { argv: true }, limits);
    } catch (error) {
      // In a state that was kept, an agent may run that is older than this field.
      if (!(error instanceof GuestError) || !error.step.startsWith("unknown key")) throw error;
      return (await this.processes(limits))
        .filter(({ argv }) => argv.length > 0)
        .map(({ pid, argv }) => ({ pid, argv }));
    }
    return records.map(([pid, argv]) => ({ pid, argv: words(argv) })).sort((a, b) => a.pid - b.pid);
  }

  async #processRecords<T>(
    schema: z.ZodType<T>,
    fields: { argv?: boolean },
    limits: ExchangeOptions,
  ): Promise<T[]> {
    const found: T[] = [];
    await request(this.#link, Op.processes, "processes", fields, listReply, {
      ...limits,
      looks: processBytes,
      credit: processCredit,
      onData: (channel, bytes) => {
        if (channel !== Channel.records) throw protocolError(`records on channel ${channel}`);
        found.push(...parseRecords(schema, bytes));
      },
    });
    return found;
  }

  /** Lets guest time pass. */
  async wait(ms: number, limits: ExchangeOptions = this.#limits): Promise<void> {
    const whole = Math.ceil(ms);
    await request(this.#link, Op.wait, "wait", { ms: whole }, emptyReply, {
      maxGuestMs: whole + graceMs,
      ...limits,
    });
  }

  /** Takes the network card's link down until the next uniqueness step: what is frozen now need not do it in every fork. */
  async unplug(limits: ExchangeOptions = this.#limits): Promise<void> {
    await request(this.#link, Op.unplug, "unplug", {}, emptyReply, limits);
  }

  /** Stops or continues the whole workload, and settles once that is so; `guest_error` after `timeout` guest milliseconds. */
  async freeze(frozen: boolean, timeout?: number, limits: ExchangeOptions = this.#limits): Promise<void> {
    const fields = { frozen, ...(timeout === undefined ? {} : { timeout }) };
    await request(this.#link, Op.freeze, frozen ? "freeze" : "thaw", fields, emptyReply, limits);
  }

  /**
   * Reads files through so that they are in the page cache; paths that are not there are passed over. With `drop`, clean caches
   * are dropped before.
   */
  async warm(
    paths: readonly string[],
    options: { drop?: boolean | undefined } = {},
    limits: ExchangeOptions = this.#limits,
  ): Promise<{ files: number; bytes: number }> {
    const total = { files: 0, bytes: 0 };
    let drop = options.drop === true;
    for (const group of groups(paths)) {
      const reply = await request(this.#link, Op.warm, "warm", { paths: group, drop }, warmReply, limits);
      total.files += reply.files;
      total.bytes += reply.bytes;
      drop = false;
    }
    return total;
  }

  /** Makes a fork unique; `fork_failed` names the step that failed. */
  uniqueness(packet: ForkPacket, limits: ExchangeOptions = this.#limits): Promise<ForkAcknowledgement> {
    return makeUnique(this.#link, packet, limits);
  }

  /** Switches the machine off. */
  async poweroff(limits: ExchangeOptions = this.#limits): Promise<void> {
    await request(this.#link, Op.poweroff, "poweroff", {}, emptyReply, limits);
  }

  /** Makes the request that is being served reject with `cancelled`; its command is killed before the next one. */
  cancel(): void {
    this.#link.cancel();
  }
}

/** Cuts a list of paths so that each part fits one request; one part at least. */
function groups(paths: readonly string[]): string[][] {
  const parts: string[][] = [[]];
  let used = 0;
  for (const path of paths) {
    const size = payloadOf(path).length;
    if (size > warmBytes) throw new ShinkenError("bad_request", "A path is too long.", { path: "paths" });
    if (used + size > warmBytes) {
      parts.push([]);
      used = 0;
    }
    (parts[parts.length - 1] as string[]).push(path);
    used += size;
  }
  return parts;
}
