/** What check graphs know of scorers: names, the form of their input, and a file that verifier threads can load. */
import type { z } from "zod";
import type { Json } from "../assertions/json-value.js";

/**
 * Scorers by id, handed to whoever loads a graph: this room holds none and imports none. A scorer is a pure function of JSON
 * and never changes its behaviour under one id.
 */
export interface ScorerLibrary {
  /** Ids of the scorers that grade, such as `gaia.question.v1/strict`. */
  readonly ids: readonly string[];
  /** The form of a scorer's input; undefined where there is no scorer of this id. */
  inputOf(id: string): z.ZodType | undefined;
  /** Path of a built module whose default export is a `Score`. */
  threadFile(): string;
}

/** What a scorer made of an input. */
export type ScorerReply =
  /** `score` in [0,1]. */
  | { score: number }
  /** Why there is no score. `open`: nobody's fault, the question waits for somebody else's answer. */
  | { fault: string; open: boolean };

/** Scores an input as the scorer of an id does; never throws on what an agent may have written. */
export type Score = (id: string, input: Json) => ScorerReply;
