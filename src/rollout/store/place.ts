import { dirname, join } from "node:path";
import { defaultReplayFolder } from "../../replay/folder.js";

/** Where runs are kept if nobody says: `runs.db` in the state folder, beside the bundles. */
export function defaultRunStore(environment: NodeJS.ProcessEnv = process.env): string {
  return join(dirname(defaultReplayFolder(environment)), "runs.db");
}
