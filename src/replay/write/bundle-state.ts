/** One bundle as the recorder's thread holds it: numbers events, takes secrets out, moves large content beside, keeps the index. */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Envelope } from "../format/channels.js";
import { ObservationDeltas } from "../format/delta.js";
import { mapLeaves } from "../format/leaves.js";
import { isWellFormed, toUtf16, toWellFormed } from "../format/text.js";
import { BlobRef, Utf16Text } from "../format/values.js";
import { blobBytes, deltaChars } from "../format/version.js";
import { BlobStore } from "./blobs.js";
import { BundleWriter } from "./bundle-writer.js";
import { syncPath } from "./durable.js";
import { EpisodeSummary } from "./episode-summary.js";
import { appendIndex, indexPath } from "./index-file.js";
import { release, takeNew } from "./owner.js";
import type { EventRequest, OpenRequest } from "./requests.js";
import { Redactor } from "./secrets.js";

export class BundleState {
  readonly #request: OpenRequest;
  readonly #writer: BundleWriter;
  /** One for all episodes of a session and its branches. */
  readonly redactor: Redactor;
  readonly #deltas = new ObservationDeltas();
  readonly #blobs: BlobStore;
  readonly #path: string;
  readonly #summary = new EpisodeSummary();
  #seq = 0;

  /** Makes the file. Throws what the file system says. */
  constructor(request: OpenRequest, blobs: BlobStore, redactor = new Redactor(request.secrets)) {
    const path = join(request.folder, request.file);
    this.#path = path;
    this.#request = request;
    this.#blobs = blobs;
    this.redactor = redactor;
    takeInFolder(path);
    try {
      this.#writer = BundleWriter.create(path, request.runtime);
    } catch (error) {
      release(path);
      throw error;
    }
  }

  get folder(): string {
    return this.#request.folder;
  }

  get bytes(): number {
    return this.#writer.length;
  }

  add([, channel, step, guest, wall, action, payload, next]: EventRequest): void {
    if (next !== undefined) this.redactor.learn(next, true);
    const { value, paths } = this.redactor.clean(payload, channel === "action" || channel === "decision");
    let content = value as Record<string, unknown>;
    // A machine that was told a secret holds it, in pages that nobody can search.
    if (channel === "snapshot" && content["pages"] !== null && this.redactor.found) {
      content = { ...content, pages: null };
      paths.push("/pages");
    }
    if (channel === "decision" && this.redactor.found) content = withoutTokens(content, paths);
    this.#summary.note(channel, step, content);
    const long = longest(content);
    if (channel === "observation") {
      const observation = this.#deltas.encode(long < deltaChars ? null : content["observation"]);
      if (long >= deltaChars) content = { ...content, observation };
    }
    if (long >= blobBytes / 4) content = this.#beside(content) as Record<string, unknown>;
    const seq = this.#seq;
    const event: Envelope & Record<string, unknown> = { seq, step, t_guest: guest, t_wall: wall, ...content };
    // A client says what it likes in a decision; its fields never stand for ours.
    event.seq = seq;
    event.step = step;
    event.t_guest = guest;
    event.t_wall = wall;
    if (action !== undefined) event.action_id = action;
    if (paths.length > 0) event.redacted = paths;
    this.#writer.add(channel, event);
    this.#seq += 1;
  }

  flush(): void {
    this.#writer.closeChunk();
  }

  /** Settles when the disk has the file, its name, its content and its line of the index, in that order. */
  async finish(): Promise<void> {
    const { folder, file } = this.#request;
    await Promise.all([this.#writer.finish(), this.#blobs.sync()]);
    // The task's folder and the index may be new in theirs.
    await Promise.all([syncPath(dirname(this.#path)), syncPath(folder)]);
    const { length: bytes } = this.#writer;
    appendIndex(folder, { file, bytes, sha256: this.#writer.sha256(), ...this.#summary.line() });
    await Promise.all([syncPath(indexPath(folder)), syncPath(folder)]);
    release(this.#path);
  }

  /** Leaves the file as it stands. Never throws. */
  abandon(): void {
    this.#writer.abandon();
    try {
      release(this.#path);
    } catch {
      // Whoever wants the file finds that this process does not write it, at the latest when it has ended.
    }
  }

  /** Long texts and bytes as references to blobs; texts that UTF-8 cannot say in UTF-16. */
  #beside(content: unknown): unknown {
    const leaf = (_path: string, value: unknown): unknown => {
      if (typeof value === "string") return this.#text(value);
      return value instanceof Uint8Array && value.byteLength >= blobBytes ? this.#put(value, "bytes") : value;
    };
    return mapLeaves(content, leaf, toWellFormed);
  }

  #text(text: string): unknown {
    const wellFormed = isWellFormed(text);
    if (wellFormed && text.length < blobBytes / 4) return text;
    const bytes = wellFormed ? Buffer.from(text, "utf8") : toUtf16(text);
    if (bytes.byteLength >= blobBytes) return this.#put(bytes, wellFormed ? "text" : "utf16");
    return wellFormed ? text : new Utf16Text(text);
  }

  #put(bytes: Uint8Array, kind: BlobRef["kind"]): BlobRef {
    const sha256 = this.#blobs.put(bytes);
    this.#summary.refersTo(sha256);
    return new BlobRef(sha256, bytes.byteLength, kind);
  }
}

/** Another process may prune the folder of a task at the moment it is made: an empty one. */
function takeInFolder(path: string): void {
  for (let tries = 1; ; tries += 1) {
    mkdirSync(dirname(path), { recursive: true });
    try {
      takeNew(path);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || tries === 3) throw error;
    }
  }
}

/**
 * Length of the longest text or bytes in it: most events have only short ones, and nothing else is to be done with those. Infinite
 * where UTF-8 cannot say all of it.
 */
function longest(value: unknown): number {
  if (typeof value === "string") return isWellFormed(value) ? value.length : Number.POSITIVE_INFINITY;
  if (typeof value !== "object" || value === null) return 0;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  let most = 0;
  if (Array.isArray(value)) for (const item of value) most = Math.max(most, longest(item));
  else
    for (const key in value)
      most = Math.max(
        most,
        longest((value as Record<string, unknown>)[key]),
        isWellFormed(key) ? 0 : Number.POSITIVE_INFINITY,
      );
  return most;
}

/** What says a decision's texts once more, token by token. */
const tokenFields = ["prompt_token_ids", "token_ids", "logprobs"];

/** Without tokens: which of them spell a secret, only the model's tokenizer could tell. */
function withoutTokens(decision: Record<string, unknown>, paths: string[]): Record<string, unknown> {
  const told = tokenFields.filter((name) => decision[name] !== undefined && decision[name] !== null);
  if (told.length === 0) return decision;
  paths.push(...told.map((name) => `/${name}`));
  return Object.fromEntries(Object.entries(decision).filter(([name]) => !told.includes(name)));
}
