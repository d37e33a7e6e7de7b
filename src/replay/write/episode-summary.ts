/** What the index says of an episode, gathered from its events; the same while it is recorded and when it is recovered. */
import type { Channel } from "../format/channels.js";
import type { IndexLine } from "./index-file.js";

const ofSession = ["episode", "task", "task_version", "seed", "labels", "parent"] as const;

export class EpisodeSummary {
  readonly #line: Record<string, unknown> = {};
  readonly #blobs = new Set<string>();
  #steps = 0;

  /** Takes an event's payload, secrets out. */
  note(channel: Channel, step: number, content: Record<string, unknown>): void {
    if (step > this.#steps) this.#steps = step;
    if (channel === "session") for (const key of ofSession) this.#line[key] = content[key];
    if (channel === "verdict") {
      const { status, score } = content["verdict"] as { status: string; score: number | null };
      Object.assign(this.#line, { status, score });
    }
  }

  /** The episode has that content, by its SHA-256. */
  refersTo(sha256: string): void {
    this.#blobs.add(sha256);
  }

  line(): Omit<IndexLine, "file" | "bytes" | "sha256"> {
    return { ...this.#line, steps: this.#steps, blobs: [...this.#blobs].sort() };
  }
}
