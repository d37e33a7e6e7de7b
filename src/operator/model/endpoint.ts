/** One request to an endpoint that speaks the OpenAI chat API, until it is answered or given up. */
import OpenAI from "openai";
import type { ChatCompletionCreateParamsNonStreaming } from "openai/resources/chat/completions";
import { ShinkenError } from "../../errors/index.js";
import { type Completion, readCompletion } from "./completion.js";
import type { ChatMessage } from "./conversation.js";
import type { OfferedTool } from "./dialects/index.js";
import { BadReply, failureOf } from "./failure.js";
import { pause, waitBefore } from "./retry.js";
import { withholding } from "./secret.js";
import type { ModelSettings } from "./settings.js";

export interface ChatRequest {
  messages: readonly ChatMessage[];
  tools: readonly OfferedTool[];
  maxTokens: number;
  seed: number | null;
}

export interface Answered {
  completion: Completion;
  /** Of the try that was answered. Host milliseconds. */
  latencyMs: number;
}

/** The endpoint says that the request is longer than the model's context. */
export class TooLong extends Error {
  override readonly name = "TooLong";
}

export class ChatEndpoint {
  readonly #client: OpenAI;
  readonly #settings: ModelSettings;
  readonly #withhold: <T>(value: T) => T;

  /** `key`: sent as a bearer token, and never told. */
  constructor(settings: ModelSettings, key: string | undefined) {
    this.#settings = settings;
    this.#withhold = withholding(key);
    this.#client = new OpenAI({
      baseURL: settings.base_url,
      apiKey: key ?? "none",
      // Waiting is ours: it is bounded, counted and stops at once.
      maxRetries: 0,
      timeout: settings.timeout_s * 1_000,
      logLevel: "off",
      // Without these the library reads variables of its own from the environment.
      organization: null,
      project: null,
      webhookSecret: null,
    });
  }

  /**
   * Rejects with the signal's reason when it is aborted, with `TooLong`, with `model_refused` where trying again is of no use, and with
   * `model_failed` after the last try. `onRetry` is called before each further try.
   */
  async ask(request: ChatRequest, signal: AbortSignal, onRetry: () => void): Promise<Answered> {
    const { retry } = this.#settings;
    for (let n = 1; ; n += 1) {
      signal.throwIfAborted();
      const began = performance.now();
      try {
        const completion = await this.#send(request, signal);
        return { completion, latencyMs: performance.now() - began };
      } catch (error) {
        signal.throwIfAborted();
        const { why, retry: again, afterMs, isTooLong } = this.#withhold(failureOf(error));
        if (isTooLong) throw new TooLong(why);
        if (!again) throw this.refused(why);
        const wait = n < retry.tries ? waitBefore(n, afterMs, retry, Math.random) : null;
        if (wait === null) throw this.#given("model_failed", `${why} (${triesOf(n, retry.tries, afterMs)})`);
        onRetry();
        await pause(wait, signal);
      }
    }
  }

  async #send(request: ChatRequest, signal: AbortSignal): Promise<Completion> {
    const body: unknown = await this.#client.chat.completions.create(bodyOf(request, this.#settings), {
      signal,
    });
    const completion = readCompletion(this.#withhold(body));
    if ("why" in completion) throw new BadReply(completion.why);
    return completion;
  }

  /** The error for a request that would be refused again. */
  refused(why: string): ShinkenError {
    return this.#given("model_refused", why);
  }

  /** The cause is left out: it holds the request's headers. */
  #given(code: "model_failed" | "model_refused", why: string): ShinkenError {
    const { model, base_url } = this.#settings;
    return new ShinkenError(code, `model "${model}" at ${base_url}: ${why}`);
  }
}

function triesOf(n: number, tries: number, afterMs: number | null): string {
  if (n < tries) return `it asks to wait for ${Math.ceil((afterMs ?? 0) / 1_000)} s, which is too long`;
  return n === 1 ? "1 try" : `${n} tries`;
}

function bodyOf(
  { messages, tools, maxTokens, seed }: ChatRequest,
  settings: ModelSettings,
): ChatCompletionCreateParamsNonStreaming {
  const { model, temperature, top_p, max_tokens_field, logprobs, token_ids } = settings;
  return {
    model,
    messages: [...messages],
    ...(tools.length === 0 ? {} : { tools: [...tools] }),
    ...(temperature === null ? {} : { temperature }),
    ...(top_p === null ? {} : { top_p }),
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- servers of open models honour it
    ...(seed === null ? {} : { seed }),
    [max_tokens_field]: maxTokens,
    ...(logprobs ? { logprobs: true } : {}),
    ...(token_ids ? { return_token_ids: true } : {}),
  };
}
