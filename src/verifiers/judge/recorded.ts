/** A judge's replies on disk, so that grading again gives the same bytes and costs nothing. */
import { appendFile, readFile } from "node:fs/promises";
import { z } from "zod";
import { ShinkenError } from "../../errors/index.js";
import { digestOf } from "../canonical.js";
import type { JudgeModel, JudgeReply, JudgeRequest } from "./model.js";

const reply = z.strictObject({
  content: z.string().nullable(),
  toolCalls: z.array(z.strictObject({ id: z.string(), name: z.string(), arguments: z.string() })),
  model: z.string(),
  promptTokens: z.int().nonnegative(),
  completionTokens: z.int().nonnegative(),
  cost: z.number().nullable(),
});
const line = z.strictObject({ request: z.string().regex(/^[0-9a-f]{64}$/), reply });

/**
 * Answers from a file of recorded replies, one JSON object a line, under the digest of model and request. What is not there is asked
 * of `inner` and appended; without one it is `judge_failed`: a replay never asks anybody.
 */
export class RecordedJudge implements JudgeModel {
  readonly model: string;
  readonly #inner: JudgeModel | null;
  readonly #file: string;
  readonly #known = new Map<string, Promise<JudgeReply>>();
  #written: Promise<void> = Promise.resolve();

  private constructor(file: string, model: string, inner: JudgeModel | null) {
    this.#file = file;
    this.model = model;
    this.#inner = inner;
  }

  /** Opens a file, which need not exist where there is an `inner` judge. Rejects with `judge_failed` for a line that is none. */
  static async open(file: string, model: string, inner: JudgeModel | null): Promise<RecordedJudge> {
    const judge = new RecordedJudge(file, model, inner);
    const text = await readFile(file, "utf8").catch((error: unknown) => {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" && inner !== null) return "";
      throw new ShinkenError("judge_failed", `${file}: ${message}`, { cause: error });
    });
    text.split("\n").forEach((one, index) => {
      if (one.trim() === "") return;
      const parsed = line.safeParse(jsonOrUndefined(one));
      if (parsed.success) {
        judge.#known.set(parsed.data.request, Promise.resolve(parsed.data.reply));
        return;
      }
      throw new ShinkenError("judge_failed", `${file}:${index + 1}: no recorded reply of a judge`);
    });
    return judge;
  }

  ask(request: JudgeRequest, signal: AbortSignal): Promise<JudgeReply> {
    const key = digestOf({ model: this.model, request });
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const asked = this.#askInner(key, request, signal);
    this.#known.set(key, asked);
    // A failure is not remembered: the next who asks tries again.
    asked.catch(() => this.#known.delete(key));
    return asked;
  }

  async #askInner(key: string, request: JudgeRequest, signal: AbortSignal): Promise<JudgeReply> {
    if (this.#inner === null)
      throw new ShinkenError("judge_failed", `${this.#file} holds no reply to this request`, {
        suggestion: "the task, the state or the model differs from what was recorded",
      });
    const given = await this.#inner.ask(request, signal);
    this.#written = this.#written.then(() =>
      appendFile(this.#file, `${JSON.stringify({ request: key, reply: given })}\n`),
    );
    await this.#written;
    return given;
  }
}

function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
