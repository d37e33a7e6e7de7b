import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ShinkenError } from "../../errors/index.js";

/** Path of the built thread. Run from sources (in tests) threads still need JavaScript. */
export function workerFile(name: string): string {
  const here = import.meta.url;
  const built = here.endsWith(".ts")
    ? new URL(`../../../dist/replay/write/${name}`, here)
    : new URL(`./${name}`, here);
  const path = fileURLToPath(built);
  if (!existsSync(path))
    throw new ShinkenError("recording_failed", "the recorder's thread is not built; run make build");
  return path;
}
