/** A model behind an OpenAI-compatible endpoint as an operator. */
import type { Operator } from "../operator.js";
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
  return {
    name: `${modelPrefix}${settings.model}`,
    scaffold: scaffoldVersion,
    model: settings.model,
    settings,
    play: (variant, past = []) => new ModelPlayer(endpoint, settings, variant, past),
  };
}
