import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ShinkenError } from "../errors/index.js";

/** Path of a worker's built file. Run from sources (in tests) threads still need JavaScript. `name` is relative to this room. */
export function workerFile(name: string): string {
  const here = import.meta.url;
  const built = here.endsWith(".ts")
    ? new URL(`../../dist/verifiers/${name}`, here)
    : new URL(`./${name}`, here);
  const path = fileURLToPath(built);
  if (!existsSync(path))
    throw new ShinkenError("grader_error", "the verifier threads are not built; run make build");
  return path;
}
