/** Outcomes of a run as JSON lines: on the disk before they leave the queue. */
import { mkdir, open, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ShinkenError } from "../errors/index.js";
import { defaultReplayFolder } from "../replay/folder.js";
import type { EpisodeOutcome } from "../rollout/index.js";

export interface Journal {
  kept: EpisodeOutcome[];
  /** Adds a line each; they are on the disk when it settles. */
  keep: (outcomes: readonly EpisodeOutcome[]) => Promise<void>;
}

/** The journal of a run, at a path or in the state folder. A last line that a killed writer left unfinished is written anew. */
export async function openJournal(run: string, path?: string): Promise<Journal> {
  // A run's id may hold slashes.
  const name = `${encodeURIComponent(run)}.jsonl`;
  const file = path ?? join(dirname(defaultReplayFolder()), "collected", name);
  await mkdir(dirname(file), { recursive: true });
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  });
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  const kept = whole
    .split("\n")
    .filter((line) => line !== "")
    .map((line, index) => parsed(line, `${file}: line ${index + 1}`));
  let cut = whole.length < text.length ? Buffer.byteLength(whole) : null;
  return {
    kept,
    async keep(outcomes) {
      const handle = await open(file, "a");
      try {
        if (cut !== null) await handle.truncate(cut);
        cut = null;
        await handle.appendFile(outcomes.map((outcome) => `${JSON.stringify(outcome)}\n`).join(""));
        await handle.sync();
      } finally {
        await handle.close();
      }
    },
  };
}

function parsed(line: string, path: string): EpisodeOutcome {
  try {
    return JSON.parse(line) as EpisodeOutcome;
  } catch (cause) {
    throw new ShinkenError("bad_request", `${path}: is no JSON`, { path, cause });
  }
}
