/** A model behind an OpenAI-compatible endpoint as an operator. */
import type { Operator, PastStep } from "../operator.js";
import { ChatEndpoint } from "./endpoint.js";
import { ModelPlayer } from "./player.js";
import { scaffoldVersion } from "./scaffold.js";
import { type ModelSettingsInput, parseSettings } from "./settings.js";

/** `openai:MODEL` on the command line. */
export const modelPrefix = "openai:";

/**
 * `key`: sent as a bearer token; it stands nowhere else, not in `settings` either. Throws `bad_request` for settings that are wrong.
 */
export function modelOperator(input: ModelSettingsInput, key?: string): Operator {
  const settings = parseSettings(input);
  const endpoint = new ChatEndpoint(settings, key);
  const branches = new Branches();
  return {
    name: `${modelPrefix}${settings.model}`,
    scaffold: scaffoldVersion,
    model: settings.model,
    settings,
    play: (variant, past = []) =>
      new ModelPlayer(endpoint, settings, variant, past, past.length === 0 ? null : branches.next(past)),
  };
}

/** Numbers the branches of one past, which would have one seed else. */
class Branches {
  readonly #counts = new WeakMap<readonly PastStep[], number>();

  next(past: readonly PastStep[]): string {
    const n = this.#counts.get(past) ?? 0;
    this.#counts.set(past, n + 1);
    const { seed } = (past.at(-1)?.decision?.["sampling"] ?? {}) as { seed?: unknown };
    return `${typeof seed === "number" ? seed : ""}/step-${past.length}/branch-${n}`;
  }
}
