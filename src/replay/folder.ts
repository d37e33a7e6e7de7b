/** Where bundles go if nobody says: state that outlives caches, by the XDG base directory rules. */
import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** `SHINKEN_STATE`, else `$XDG_STATE_HOME/shinken`, else `~/.local/state/shinken`; in it, `replays`. */
export function defaultReplayFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const own = environment["SHINKEN_STATE"];
  if (own !== undefined && own !== "") return join(resolve(own), "replays");
  const xdg = environment["XDG_STATE_HOME"];
  const base = xdg !== undefined && xdg.startsWith("/") ? xdg : join(homedir(), ".local", "state");
  return join(base, "shinken", "replays");
}
