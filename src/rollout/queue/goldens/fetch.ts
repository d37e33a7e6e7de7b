/** One golden from one other node, which may be broken or hostile: nothing it does takes more than a bounded time and a bounded file. */
import { type FileHandle, open } from "node:fs/promises";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { ShinkenError } from "../../../errors/index.js";
import { adoptGolden, largestGolden } from "../../../sandbox/microvm/golden-adopt.js";
import { storeError } from "../../../sandbox/microvm/golden-care.js";
import type { ExpectedGolden } from "../../../sandbox/microvm/golden-key.js";

export interface FetchOptions {
  /** Where the node gives its goldens. */
  url: string;
  token?: string | undefined;
  /** Folder of the goldens, in which it is to be. */
  folder: string;
  signal?: AbortSignal | undefined;
  limits?: Partial<FetchLimits> | undefined;
}

export interface FetchLimits {
  /** Milliseconds for the whole file. */
  transferMs: number;
  /** Milliseconds in which nothing comes. */
  idleMs: number;
  /** Bytes; what a golden of that memory can have at most if unsaid. */
  maxBytes?: number | undefined;
  /** Times that a connection which breaks is made again, to go on where it broke. */
  resumes: number;
}

export const fetchLimits: FetchLimits = { transferMs: 180_000, idleMs: 10_000, resumes: 2 };

export interface Fetched {
  bytes: number;
  /** Of the transfer alone, without the check. */
  transferMs: number;
}

const maxHeadBytes = 16 * 1024;

/** Rejects with `golden_transfer` whatever the other node did wrong, with `disk_full` where there is no room, and leaves nothing behind. */
export async function fetchGolden(expected: ExpectedGolden, options: FetchOptions): Promise<Fetched> {
  const maxBytes = options.limits?.maxBytes ?? largestGolden(expected.memoryMiB);
  const limits = { ...fetchLimits, ...options.limits, maxBytes };
  const deadline = AbortSignal.timeout(limits.transferMs);
  const signal = options.signal === undefined ? deadline : AbortSignal.any([deadline, options.signal]);
  const begun = performance.now();
  const transfer = new Transfer(expected.key, options, limits, signal);
  try {
    const head = await transfer.begin();
    let transferMs = 0;
    await adoptGolden(options.folder, expected, head.state, async (path) => {
      const file = await open(path, "wx");
      try {
        await transfer.into(file);
        transferMs = performance.now() - begun;
        await file.sync();
      } finally {
        await file.close();
      }
    });
    return { bytes: head.size, transferMs };
  } catch (error) {
    if (deadline.aborted) throw failed(`it did not come within ${limits.transferMs} ms`, error);
    throw error instanceof ShinkenError ? error : wrapped(error);
  } finally {
    transfer.close();
  }
}

interface Head {
  state: string;
  /** Bytes of the whole file. */
  size: number;
  etag: string | undefined;
}

class Transfer {
  private readonly address: URL;
  private readonly token: string | undefined;
  private readonly limits: FetchLimits & { maxBytes: number };
  private readonly signal: AbortSignal;
  private response: IncomingMessage | null = null;
  /** Why the last connection was given up, which its stream does not say. */
  private stalled: ShinkenError | null = null;
  private head: Head = { state: "", size: 0, etag: undefined };

  constructor(
    key: string,
    { url, token }: FetchOptions,
    limits: FetchLimits & { maxBytes: number },
    signal: AbortSignal,
  ) {
    this.address = new URL(`goldens/${key}`, url.endsWith("/") ? url : `${url}/`);
    this.token = token;
    this.limits = limits;
    this.signal = signal;
  }

  async begin(): Promise<Head> {
    const response = await this.ask({});
    const { statusCode, headers } = response;
    if (statusCode !== 200) throw failed(`the node answered with status ${statusCode}`);
    if (headers["content-encoding"] !== undefined) throw failed("the node sent it in another encoding");
    const state = String(headers["x-shinken-state"]);
    if (!/^[0-9a-f]{32}$/.test(state)) throw failed("the node did not say which state it is");
    this.head = { state, size: this.sizeOf(headers["content-length"]), etag: headers.etag };
    return this.head;
  }

  /** All bytes; goes on where a connection broke. */
  async into(file: FileHandle): Promise<void> {
    const { size } = this.head;
    let at = 0;
    for (let resumed = 0; ; resumed += 1) {
      const chunks = (this.response as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
      let broken: unknown;
      for (;;) {
        const next = await chunks.next().catch((error: unknown) => {
          broken = error;
          return null;
        });
        if (next === null || next.done === true) break;
        const chunk = next.value;
        if (at + chunk.length > size) throw failed("the node sent more than it said");
        await writeAll(file, chunk, at);
        at += chunk.length;
      }
      if (at === size) return;
      if (this.signal.aborted || resumed === this.limits.resumes || this.head.etag === undefined)
        throw failed(`only ${at} of ${size} bytes came${because(this.stalled ?? broken)}`, broken);
      await this.goOn(at, this.head.etag);
    }
  }

  close(): void {
    this.response?.destroy();
  }

  private async goOn(at: number, etag: string): Promise<void> {
    const { size } = this.head;
    const { statusCode, headers } = await this.ask({ range: `bytes=${at}-`, "if-range": etag });
    if (statusCode !== 206 || headers["content-range"] !== `bytes ${at}-${size - 1}/${size}`)
      throw failed(`the node does not go on where it stopped, after ${at} of ${size} bytes`);
  }

  private sizeOf(header: string | undefined): number {
    const size = Number(header);
    if (header === undefined || !Number.isSafeInteger(size) || size <= 0)
      throw failed("the node did not say how long it is");
    if (size > this.limits.maxBytes)
      throw failed(`it has ${size} bytes, more than ${this.limits.maxBytes} for such a memory`);
    return size;
  }

  /** A connection of its own each time. Redirects are answers like any other: the token goes nowhere else. */
  private async ask(headers: Record<string, string>): Promise<IncomingMessage> {
    this.close();
    this.stalled = null;
    const { idleMs } = this.limits;
    const ask = this.address.protocol === "https:" ? httpsRequest : httpRequest;
    this.response = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = ask(
        this.address,
        {
          agent: false,
          signal: this.signal,
          maxHeaderSize: maxHeadBytes,
          timeout: idleMs,
          headers: {
            "accept-encoding": "identity",
            ...(this.token === undefined ? {} : { authorization: `Bearer ${this.token}` }),
            ...headers,
          },
        },
        resolve,
      );
      request.on("timeout", () => {
        this.stalled = failed(`nothing came for ${idleMs} ms`);
        request.destroy(this.stalled);
      });
      request.on("error", reject);
      request.end();
    });
    return this.response;
  }
}

async function writeAll(file: FileHandle, chunk: Buffer, at: number): Promise<void> {
  for (let done = 0; done < chunk.length; )
    done += (await file.write(chunk, done, chunk.length - done, at + done)).bytesWritten;
}

const because = (error: unknown): string => (error instanceof Error ? `: ${error.message}` : "");

function wrapped(error: unknown): ShinkenError {
  const stored = storeError(error);
  if (stored.code === "disk_full") return stored;
  return failed(error instanceof Error ? error.message : String(error), error);
}

function failed(message: string, cause?: unknown): ShinkenError {
  return new ShinkenError("golden_transfer", message, { cause });
}
