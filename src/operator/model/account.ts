/** What an episode has used so far, and whether a budget is spent. */
import type { Account, StopReason } from "../operator.js";
import type { Completion } from "./completion.js";
import type { ChatMessage } from "./conversation.js";
import type { OfferedTool } from "./dialects/index.js";
import type { ModelSettings } from "./settings.js";
import { tokensOfMessage, tokensOfMessages, tokensOfTools } from "./tokens.js";

const million = 1_000_000;

/** Of one request, as it is recorded. */
export interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  /** Our own count, since the endpoint told none. */
  estimated?: true;
  [field: string]: unknown;
}

export class Bookkeeper {
  readonly #settings: ModelSettings;
  readonly #account: Account;
  #steps = 0;
  #began: number | undefined;

  constructor(settings: ModelSettings) {
    this.#settings = settings;
    this.#account = {
      stopped: null,
      detail: null,
      requests: 0,
      retries: 0,
      malformed: 0,
      tokens_in: 0,
      tokens_out: 0,
      estimated: false,
      dollars: settings.price === null ? null : 0,
      served: null,
      fingerprint: null,
    };
  }

  get account(): Account {
    return { ...this.#account };
  }

  get isStopped(): boolean {
    return this.#account.stopped !== null;
  }

  /** Wall time counts from the first call on. */
  begin(): void {
    this.#began ??= performance.now();
  }

  stop(reason: StopReason, detail: string | null): void {
    Object.assign(this.#account, { stopped: reason, detail });
  }

  countStep(): void {
    this.#steps += 1;
  }

  countRetry(): void {
    this.#account.retries += 1;
  }

  countMalformed(): void {
    this.#account.malformed += 1;
  }

  /** Adds a reply; gives its usage, estimated where the endpoint told none. */
  add(
    completion: Completion,
    messages: readonly ChatMessage[],
    tools: readonly OfferedTool[],
    reply: ChatMessage,
  ): Usage {
    const usage: Usage = completion.usage ?? {
      prompt_tokens: tokensOfMessages(messages) + tokensOfTools(tools),
      completion_tokens: tokensOfMessage(reply),
      estimated: true,
    };
    const account = this.#account;
    account.requests += 1;
    account.tokens_in += usage.prompt_tokens;
    account.tokens_out += usage.completion_tokens;
    account.estimated ||= usage.estimated === true;
    account.served = completion.model ?? account.served;
    account.fingerprint = completion.fingerprint ?? account.fingerprint;
    const { price } = this.#settings;
    if (price !== null)
      account.dollars = (account.tokens_in * price.input + account.tokens_out * price.output) / million;
    return usage;
  }

  /** Which budget is spent, as a sentence; null if none is. Asked before each request, which may go beyond all but `tokens_out`. */
  spent(): string | null {
    const { budget } = this.#settings;
    const { tokens_in, tokens_out, dollars } = this.#account;
    const used = { steps: this.#steps, tokens_in, tokens_out, dollars: dollars ?? 0, wall_s: this.#wallS() };
    for (const name of ["steps", "tokens_in", "tokens_out", "dollars", "wall_s"] as const) {
      const limit = budget[name];
      if (limit !== null && used[name] >= limit) return `the budget of ${limit} ${name} is spent`;
    }
    return null;
  }

  /** Tokens that the next reply may have. */
  get replyTokens(): number {
    const { max_tokens, budget } = this.#settings;
    return budget.tokens_out === null
      ? max_tokens
      : Math.min(max_tokens, budget.tokens_out - this.#account.tokens_out);
  }

  /** Milliseconds until the budget of wall time is spent; null where there is none. */
  get remainingMs(): number | null {
    const { wall_s } = this.#settings.budget;
    return wall_s === null ? null : Math.max(0, (wall_s - this.#wallS()) * 1_000);
  }

  #wallS(): number {
    return this.#began === undefined ? 0 : (performance.now() - this.#began) / 1_000;
  }
}
