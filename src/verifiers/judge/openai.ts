/** A judge behind any endpoint that speaks the OpenAI chat API. */
import OpenAI from "openai";
import type { ChatCompletionMessageParam } from "openai/resources/chat/completions";
import { ShinkenError } from "../../errors/index.js";
import type { JudgeMessage, JudgeModel, JudgeReply, JudgeRequest } from "./model.js";

export interface EndpointOptions {
  /** Up to and without `/chat/completions`, e.g. `http://127.0.0.1:8000/v1`. */
  url: string;
  model: string;
  /** Sent as a bearer token; never written anywhere. */
  key?: string | undefined;
  /** US dollars for a million tokens. */
  price?: { input: number; output: number } | undefined;
}

/** Tries of one request that failed by the network or by a 5xx status. */
const RETRIES = 2;
const TIMEOUT_MS = 120_000;
const MILLION = 1_000_000;

export class OpenAiJudge implements JudgeModel {
  readonly model: string;
  readonly #client: OpenAI;
  readonly #price: EndpointOptions["price"];

  constructor(options: EndpointOptions) {
    this.model = options.model;
    this.#price = options.price;
    this.#client = new OpenAI({
      baseURL: options.url,
      apiKey: options.key ?? "none",
      maxRetries: RETRIES,
      timeout: TIMEOUT_MS,
      // Without these the library reads variables of its own from the environment.
      organization: null,
      project: null,
    });
  }

  async ask(request: JudgeRequest, signal: AbortSignal): Promise<JudgeReply> {
    const completion = await this.#client.chat.completions
      .create(
        {
          model: this.model,
          messages: request.messages.map(wireMessage),
          temperature: 0,
          // eslint-disable-next-line @typescript-eslint/no-deprecated -- servers of open models honour it
          seed: request.seed,
          response_format: {
            type: "json_schema",
            json_schema: { name: "judgement", strict: true, schema: request.schema },
          },
          ...(request.tools.length === 0
            ? {}
            : { tools: request.tools.map((tool) => ({ type: "function" as const, function: { ...tool } })) }),
        },
        { signal },
      )
      .catch((error: unknown) => {
        signal.throwIfAborted();
        throw failed(error instanceof Error ? error.message : String(error), error);
      });
    // The endpoint is somebody else's: what it sends may lack anything.
    const message = (completion as Partial<typeof completion>).choices?.[0]?.message;
    if (message === undefined) throw failed("the reply holds no message");
    const promptTokens = tokens(completion.usage?.prompt_tokens);
    const completionTokens = tokens(completion.usage?.completion_tokens);
    const price = this.#price;
    return {
      content: typeof message.content === "string" ? message.content : null,
      toolCalls: (message.tool_calls ?? []).flatMap((call) =>
        call.type === "function"
          ? [{ id: call.id, name: call.function.name, arguments: call.function.arguments }]
          : [],
      ),
      model: typeof completion.model === "string" ? completion.model : this.model,
      promptTokens,
      completionTokens,
      cost:
        price === undefined ? null : (promptTokens * price.input + completionTokens * price.output) / MILLION,
    };
  }
}

function failed(why: string, cause?: unknown): ShinkenError {
  return new ShinkenError("judge_failed", `the judge's endpoint: ${why}`, { cause });
}

function tokens(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}

function wireMessage(message: JudgeMessage): ChatCompletionMessageParam {
  switch (message.role) {
    case "assistant":
      return {
        role: "assistant",
        content: message.content === "" ? null : message.content,
        ...(message.toolCalls === undefined || message.toolCalls.length === 0
          ? {}
          : {
              tool_calls: message.toolCalls.map((call) => ({
                id: call.id,
                type: "function" as const,
                function: { name: call.name, arguments: call.arguments },
              })),
            }),
      };
    case "tool":
      return { role: "tool", content: message.content, tool_call_id: message.toolCallId ?? "" };
    default:
      return { role: message.role, content: message.content };
  }
}
