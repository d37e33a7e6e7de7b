/** Token ids of an episode as trainers read them: one prompt, and one completion in which what the environment said is masked. */
import type { z } from "zod";
import { decisionSchema } from "../../env/decision.js";
import type { EpisodeStep } from "./episode.js";

/** Steps in a row whose contexts grow by appending. */
export interface Segment {
  steps: EpisodeStep[];
  promptIds: number[];
  completionIds: number[];
  /** One for each of the completion's; 0 where the environment's tokens stand. Null where a step does not tell them. */
  logprobs: number[] | null;
  /** 1: written by the model. 0: read by it. */
  mask: (0 | 1)[];
}

/**
 * The segments of an episode. A context that was cut or rewritten does not begin with what was read and written before; there, and
 * where a step tells no tokens, a new one begins. None where no step tells any.
 */
export function segmentsOf(steps: readonly EpisodeStep[]): Segment[] {
  const segments: Segment[] = [];
  let open: Segment | null = null;
  for (const step of steps) {
    for (const { prompt_token_ids: prompt, token_ids: written, logprobs } of repliesOf(step)) {
      if (prompt === undefined || written === undefined) {
        open = null;
        continue;
      }
      if (open === null || !continues(open, prompt)) {
        open = { steps: [], promptIds: [...prompt], completionIds: [], logprobs: [], mask: [] };
        segments.push(open);
      }
      const read = prompt.slice(open.promptIds.length + open.completionIds.length);
      extend(open, read, 0, new Array<number>(read.length).fill(0));
      extend(open, written, 1, logprobs?.length === written.length ? logprobs : null);
      if (open.steps.at(-1) !== step) open.steps.push(step);
    }
  }
  return segments;
}

/** Replies that were no step (`attempts`), and the one that was; none has tokens that are not told as they should be. */
function repliesOf({ decision }: EpisodeStep): Partial<z.output<typeof decisionSchema>>[] {
  if (decision === null) return [{}];
  const attempts: unknown = decision["attempts"];
  const before = Array.isArray(attempts)
    ? attempts.map((one) => decisionSchema.safeParse(one).data ?? {})
    : [];
  return [...before, decision];
}

function continues({ promptIds, completionIds }: Segment, prompt: readonly number[]): boolean {
  return (
    prompt.length >= promptIds.length + completionIds.length &&
    promptIds.every((id, at) => prompt[at] === id) &&
    completionIds.every((id, at) => prompt[promptIds.length + at] === id)
  );
}

function extend(
  segment: Segment,
  ids: readonly number[],
  mask: 0 | 1,
  logprobs: readonly number[] | null,
): void {
  for (const id of ids) {
    segment.completionIds.push(id);
    segment.mask.push(mask);
  }
  if (logprobs === null) segment.logprobs = null;
  else for (const one of logprobs) segment.logprobs?.push(one);
}
