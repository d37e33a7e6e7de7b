import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder that holds package.json, from `dist/cli` or `src/cli`. */
export function packageRoot(): string {
  return join(dirname(fileURLToPath(import.meta.url)), "..", "..");
}

/** The launcher, to start commands of ours in processes of their own. */
export function launcher(): string {
  return join(packageRoot(), "bin", "shinken");
}
