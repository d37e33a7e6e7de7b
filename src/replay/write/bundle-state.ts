/** One bundle as the recorder's thread holds it: numbers events, takes secrets out, moves large content beside, keeps the index. */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Channel, Envelope } from "../format/channels.js";
import { mapTexts, ObservationDeltas } from "../format/delta.js";
import { BlobRef } from "../format/values.js";
import { blobBytes } from "../format/version.js";
import { BlobStore } from "./blobs.js";
import { BundleWriter } from "./bundle-writer.js";
import { appendIndex } from "./index-file.js";
import type { EventRequest, OpenRequest } from "./requests.js";
import { Redactor } from "./secrets.js";

export class BundleState {
  readonly #request: OpenRequest;
  readonly #writer: BundleWriter;
  readonly #redactor: Redactor;
  readonly #deltas = new ObservationDeltas();
  readonly #blobs: BlobStore;
  #seq = 0;
  /** What the index says of the episode. */
  readonly #summary: Record<string, unknown> = {};

  /** Makes the file. Throws what the file system says. */
  constructor(request: OpenRequest, blobs: BlobStore) {
    const path = join(request.folder, request.file);
    mkdirSync(dirname(path), { recursive: true });
    this.#request = request;
    this.#blobs = blobs;
    this.#redactor = new Redactor(request.secrets);
    this.#writer = new BundleWriter(path, request.runtime);
  }

  get bytes(): number {
    return this.#writer.length;
  }

  add({ channel, step, guest, wall, action, payload }: EventRequest): void {
    const { value, paths } = this.#redactor.clean(payload);
    let content = value as Record<string, unknown>;
    this.#note(channel, step, content);
    if (channel === "observation")
      content = { ...content, observation: this.#deltas.encode(content["observation"]) };
    const event: Envelope & Record<string, unknown> = {
      seq: this.#seq,
      step,
      t_guest: guest,
      t_wall: wall,
      ...(action === undefined ? {} : { action_id: action }),
      ...(paths.length === 0 ? {} : { redacted: paths }),
      ...(this.#beside(content) as Record<string, unknown>),
    };
    this.#writer.add(channel, event);
    this.#seq += 1;
  }

  flush(): void {
    this.#writer.closeChunk();
  }

  async finish(): Promise<void> {
    await this.#writer.finish();
    const { folder, file } = this.#request;
    appendIndex(folder, {
      file,
      bytes: this.#writer.length,
      sha256: this.#writer.sha256(),
      ...this.#summary,
    });
  }

  abandon(): void {
    this.#writer.abandon();
  }

  /** Long texts and bytes as references to blobs. */
  #beside(content: unknown): unknown {
    return mapTexts(content, (_path, value) => {
      if (typeof value === "string") {
        if (value.length < blobBytes / 4) return value;
        const bytes = Buffer.from(value, "utf8");
        return bytes.byteLength < blobBytes
          ? value
          : new BlobRef(this.#blobs.put(bytes), bytes.byteLength, "text");
      }
      if (value instanceof Uint8Array && value.byteLength >= blobBytes)
        return new BlobRef(this.#blobs.put(value), value.byteLength, "bytes");
      return value;
    });
  }

  #note(channel: Channel, step: number, content: Record<string, unknown>): void {
    const summary = this.#summary;
    summary["steps"] = Math.max(step, (summary["steps"] as number | undefined) ?? 0);
    if (channel === "session") {
      for (const key of ["episode", "task", "task_version", "seed", "labels", "parent"])
        summary[key] = content[key];
    }
    if (channel === "verdict") {
      const { status, score } = content["verdict"] as { status: string; score: number | null };
      Object.assign(summary, { status, score });
    }
  }
}
