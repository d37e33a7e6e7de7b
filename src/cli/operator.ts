/** Options of who plays, for every command that lets somebody play. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { ShinkenError } from "../errors/index.js";
import type { ModelSettingsInput, Operator } from "../operator/index.js";
import { integer, seconds, share } from "./options.js";

export interface OperatorChoice {
  operator?: string;
  baseUrl?: string;
  apiKeyEnv: string;
  dialect: "tools" | "text";
  temperature?: number | null;
  topP?: number;
  modelSeed?: number;
  maxTokens?: number;
  maxCompletionTokens?: true;
  context?: number;
  logprobs?: true;
  tokenIds?: true;
  maxSteps?: number;
  maxTokensIn?: number;
  maxTokensOut?: number;
  maxSeconds?: number;
  maxDollars?: number;
  price?: { input: number; output: number };
}

const publicUrl = "https://api.openai.com/v1";
/** What `--operator` takes. */
export const operatorWords = "oracle, null, fail, done, or openai:MODEL behind an endpoint";

/** Adds the options of a model, in a group of their own; `--operator` is the command's. */
export function modelOptions(command: Command): Command {
  const add = (flags: string, description: string, parse?: (text: string) => unknown): void => {
    const option = new Option(flags, description).helpGroup("Options of --operator openai:MODEL:");
    command.addOption(parse === undefined ? option : option.argParser(parse));
  };
  add("--base-url <url>", `endpoint that speaks the OpenAI chat API (default: ${publicUrl})`);
  command.addOption(
    new Option("--api-key-env <name>", "environment variable that holds its key")
      .default("OPENAI_API_KEY")
      .helpGroup("Options of --operator openai:MODEL:"),
  );
  command.addOption(
    new Option(
      "--dialect <name>",
      "how tools are called: by the endpoint's interface, or as JSON in the text",
    )
      .choices(["tools", "text"])
      .default("tools")
      .helpGroup("Options of --operator openai:MODEL:"),
  );
  add("--temperature <t>", "0 to 2, or unset for the endpoint's own (default: 1)", temperature);
  add("--top-p <p>", "share of the probability to draw from", share);
  add("--model-seed <n>", "what the seed of each episode's requests is drawn from", integer(0));
  add("--max-tokens <n>", "tokens of one reply (default: 4096)", integer(1));
  add("--max-completion-tokens", "send that bound under this name, for endpoints that refuse max_tokens");
  add("--context <n>", "tokens of request and reply together (default: 32768)", integer(1));
  add("--logprobs", "ask for log-probabilities");
  add("--token-ids", "ask for token ids and log-probabilities, as vLLM gives them");
  add("--max-steps <n>", "steps of an episode (default: 100)", integer(1));
  add("--max-tokens-in <n>", "tokens that it may read in an episode", integer(1));
  add("--max-tokens-out <n>", "tokens that it may write in an episode", integer(1));
  add("--max-seconds <s>", "seconds of an episode, by the clock on the wall", seconds);
  add("--max-dollars <d>", "US dollars of an episode; needs --price", share);
  add("--price <in,out>", "US dollars for a million tokens", price);
  return command;
}

/**
 * The operator that the options name. Throws `bad_request` for an unknown name, for a setting that is wrong, and for the public endpoint
 * without a key.
 */
export async function resolveOperator(choice: OperatorChoice): Promise<Operator> {
  const { modelOperator, modelPrefix, operatorByName } = await import("../operator/index.js");
  const name = choice.operator ?? "";
  if (!name.startsWith(modelPrefix)) return operatorByName(name);
  const key = process.env[choice.apiKeyEnv] || undefined;
  if (choice.baseUrl === undefined && key === undefined)
    throw new ShinkenError("bad_request", `the environment variable ${choice.apiKeyEnv} is not set`, {
      path: "--api-key-env",
      suggestion: "set it to the endpoint's key, or name a local server with --base-url",
    });
  return modelOperator(settingsOf(choice, name.slice(modelPrefix.length)), key);
}

/** What is not said is left out: the defaults are the scaffold's. */
function settingsOf(choice: OperatorChoice, model: string): ModelSettingsInput {
  const { temperature, topP, modelSeed, maxTokens, context, maxSteps, maxTokensIn, maxTokensOut } = choice;
  return {
    base_url: choice.baseUrl ?? publicUrl,
    model,
    dialect: choice.dialect,
    temperature,
    top_p: topP,
    seed: modelSeed,
    max_tokens: maxTokens,
    max_tokens_field: choice.maxCompletionTokens === true ? "max_completion_tokens" : "max_tokens",
    context_tokens: context,
    logprobs: choice.logprobs === true || choice.tokenIds === true,
    token_ids: choice.tokenIds === true,
    budget: {
      steps: maxSteps,
      tokens_in: maxTokensIn,
      tokens_out: maxTokensOut,
      wall_s: choice.maxSeconds,
      dollars: choice.maxDollars,
    },
    price: choice.price,
  };
}

function temperature(text: string): number | null {
  if (text === "unset") return null;
  const value = Number(text);
  if (!/^\d*\.?\d+$/.test(text) || value > 2) throw new InvalidArgumentError("must be 0 to 2, or unset.");
  return value;
}

function price(text: string): { input: number; output: number } {
  const match = /^(\d+(?:\.\d+)?),(\d+(?:\.\d+)?)$/.exec(text);
  if (match === null) throw new InvalidArgumentError("must be IN,OUT in US dollars for a million tokens.");
  return { input: Number(match[1]), output: Number(match[2]) };
}
