/** What a golden file's note carries beside the machine. */
import { ShinkenError } from "../../errors/index.js";
import type { WarmDepth } from "./warm.js";

export interface GoldenNote {
  nextStream: number;
  /** How much code the file has; unsaid in files that have none. */
  warm?: WarmDepth | undefined;
  /** The `CODE_RECIPE` that found it. */
  code?: number | undefined;
}

/** The note of a golden file of ours. @throws ShinkenError `golden_invalid` */
export function noteOf(text: string): GoldenNote {
  try {
    const note = JSON.parse(text) as Partial<GoldenNote>;
    if (Number.isSafeInteger(note.nextStream) && (note.nextStream ?? 0) > 0)
      return {
        nextStream: note.nextStream ?? 1,
        warm: note.warm === "full" ? "full" : "quick",
        code: note.code,
      };
  } catch {
    // said below
  }
  throw new ShinkenError("golden_invalid", "the golden's note does not say where its agent stands");
}
