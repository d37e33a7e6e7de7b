/** Plays one episode with a model: one usable reply, one step. */
import { createHash } from "node:crypto";
import type { ActionCapability, ToolDescription } from "../../env/aci/index.js";
import type { ActionResult, ResetResult, StepResult } from "../../env/environment.js";
import type { TaskVariant } from "../../env/task/index.js";
import type { Account, PastStep, Player, Turn } from "../operator.js";
import { Bookkeeper } from "./account.js";
import { actionsOf } from "./actions.js";
import type { Call, ChatMessage, Conversation } from "./conversation.js";
import { BudgetSpent, within } from "./deadline.js";
import { decisionOf, type Made } from "./decision.js";
import { type Dialect, dialects } from "./dialects/index.js";
import { type ChatEndpoint, TooLong } from "./endpoint.js";
import { loopNote, LoopWatch } from "./loop.js";
import { resumed } from "./past.js";
import { systemOf, toolsOf } from "./scaffold.js";
import type { ModelSettings } from "./settings.js";
import { tokensOfTools } from "./tokens.js";
import { messagesOf, trim } from "./trim.js";

/** What the context shrinks to each time that the endpoint finds a request too long, and how often it may. */
const shrinking = 3 / 4;
const shrinksAtMost = 4;

/** A reply whose results are still to be told. */
interface Open {
  content: string;
  calls: readonly Call[];
  actions: readonly unknown[];
}

export class ModelPlayer implements Player {
  readonly #endpoint: ChatEndpoint;
  readonly #settings: ModelSettings;
  readonly #dialect: Dialect;
  readonly #granted: ReadonlySet<ActionCapability>;
  readonly #tools: readonly ToolDescription[];
  readonly #books: Bookkeeper;
  readonly #loops: LoopWatch | null;
  #conversation: Conversation | undefined;
  #open: Open | null = null;
  #contextTokens: number;
  readonly #trunk: string | null;
  #seed: number | null = null;
  #replies = 0;
  #toldTools = false;

  /** `trunk`: tells branches of one episode apart; null where it is none. */
  constructor(
    endpoint: ChatEndpoint,
    settings: ModelSettings,
    variant: TaskVariant,
    past: readonly PastStep[],
    trunk: string | null,
  ) {
    this.#endpoint = endpoint;
    this.#settings = settings;
    this.#dialect = dialects[settings.dialect];
    this.#granted = new Set(variant.task.capabilities.agent);
    this.#tools = toolsOf(variant);
    this.#books = new Bookkeeper(settings);
    this.#loops = settings.loop === null ? null : new LoopWatch(settings.loop);
    this.#contextTokens = settings.context_tokens;
    this.#trunk = trunk;
    const before = resumed(past, this.#dialect);
    if (before !== null) {
      this.#conversation = before.conversation;
      this.#open = { ...before.open, actions: past.at(-1)?.actions ?? [] };
    }
  }

  account(): Account {
    return this.#books.account;
  }

  async next(last: ResetResult | StepResult, signal?: AbortSignal): Promise<Turn | null> {
    signal?.throwIfAborted();
    if (this.#books.isStopped) return null;
    this.#books.begin();
    this.#seed ??= seedFor(this.#settings.seed, this.#trunk ?? last.info["seed"]);
    const loop = this.#hear(last);
    if (loop !== null) return this.#stop("loop", loop);
    try {
      return await within(this.#books.remainingMs, signal, (both) => this.#choose(both));
    } catch (error) {
      if (error instanceof BudgetSpent) return this.#stop("budget", this.#books.spent() ?? error.message);
      throw error;
    }
  }

  /** Asks until a reply is a step. */
  async #choose(signal: AbortSignal): Promise<Turn | null> {
    const attempts: (Made & { fault: string })[] = [];
    for (;;) {
      const spent = this.#books.spent();
      if (spent !== null) return this.#stop("budget", spent);
      const { made, input } = await this.#ask(signal);
      const { completion, calls } = made;
      const { content } = completion;
      const read = actionsOf(calls, completion, this.#tools, this.#granted);
      if (read.ok) {
        this.#open = { content, calls, actions: read.actions };
        const told = { input, seed: this.#seed, attempts, tools: this.#toldTools ? null : this.#tools };
        this.#toldTools = true;
        return this.#step(read.actions, decisionOf(this.#settings, this.#dialect, made, told));
      }
      this.#books.countMalformed();
      attempts.push({ ...made, fault: read.fault });
      this.#append({ content, calls }, read.answers);
      if (attempts.length > this.#settings.malformed)
        return this.#stop(
          "malformed",
          `${attempts.length} replies in a row were no step; the last: ${read.fault}`,
        );
    }
  }

  #step(actions: readonly Record<string, unknown>[], decision: Turn["decision"]): Turn {
    this.#books.countStep();
    const last = actions.at(-1)?.["type"];
    if (last === "done" || last === "fail") this.#books.stop(last, null);
    return { actions, decision };
  }

  /** Sends the conversation, cut to what has room; to less where the endpoint counts more tokens than we do. */
  async #ask(signal: AbortSignal): Promise<{ made: Made; input: ChatMessage[] }> {
    const tools = this.#dialect.offer(this.#tools);
    for (let shrinks = 0; ; shrinks += 1) {
      const maxTokens = this.#books.replyTokens;
      const room = this.#contextTokens - this.#settings.max_tokens - tokensOfTools(tools);
      const conversation = trim(this.#told, this.#dialect, room);
      this.#conversation = conversation;
      const input = messagesOf(conversation, this.#dialect);
      try {
        const request = { messages: input, tools, maxTokens, seed: this.#seed };
        const { completion, latencyMs } = await this.#endpoint.ask(request, signal, () => {
          this.#books.countRetry();
        });
        this.#replies += 1;
        const calls = this.#dialect.calls(completion, `call_${this.#replies}`);
        const reply = this.#dialect.assistant({ content: completion.content, calls });
        const usage = this.#books.add(completion, input, tools, reply);
        return { made: { completion, calls, reply, usage, latencyMs }, input };
      } catch (error) {
        if (!(error instanceof TooLong)) throw error;
        if (shrinks === shrinksAtMost) throw this.#endpoint.refused(error.message);
        this.#contextTokens *= shrinking;
      }
    }
  }

  get #told(): Conversation {
    if (this.#conversation === undefined) throw new Error("nothing was told yet");
    return this.#conversation;
  }

  /** Takes in what came of the last step. Gives what ends the episode, if it goes round in circles. */
  #hear(last: ResetResult | StepResult): string | null {
    const open = this.#open;
    if (this.#conversation === undefined) {
      this.#conversation = {
        system: systemOf(this.#dialect, this.#tools),
        instruction: last.observation.instruction ?? "",
        dropped: 0,
        exchanges: [],
      };
    }
    if (open === null) return null;
    this.#open = null;
    const { results } = last.observation;
    const texts = open.calls.map((_, at) => shown(results[at]));
    const earned = last.info["earned"];
    const loop = this.#loops?.record(
      open.actions,
      last.observation,
      Array.isArray(earned) && earned.length > 0,
    );
    const note = loop?.what === "warn" ? loopNote(loop.message) : "";
    this.#append(
      open,
      texts.map((text, at) => (at === texts.length - 1 ? text + note : text)),
    );
    return loop?.what === "end" ? loop.message : null;
  }

  #append(reply: { content: string; calls: readonly Call[] }, results: readonly string[]): void {
    const { content, calls } = reply;
    const answers = this.#dialect.answers(calls, results);
    const conversation = this.#told;
    this.#conversation = {
      ...conversation,
      exchanges: [...conversation.exchanges, { content, calls, answers }],
    };
  }

  #stop(...reason: Parameters<Bookkeeper["stop"]>): null {
    this.#books.stop(...reason);
    return null;
  }
}

/** Some servers refuse a message without text. */
function shown(result: ActionResult | undefined): string {
  if (result === undefined) return "Not done: the step ended before.";
  return result.text === "" ? "[no output]" : result.text;
}

/** One for each episode and branch, so that replicas are draws of their own; of 31 bits, which every server takes. */
function seedFor(seed: number | null, episode: unknown): number | null {
  if (seed === null) return null;
  const text = `shinken-model\0${seed}\0${typeof episode === "number" || typeof episode === "string" ? episode : ""}`;
  return createHash("sha256").update(text).digest().readUInt32BE(0) >>> 1;
}
