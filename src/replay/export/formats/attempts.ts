/** What trainers of policies read, whatever their columns are called: a prompt, what was answered, its tokens, its reward. */
import type { Episode } from "../episode.js";
import { scoreOf } from "../facts.js";
import type { LeftOut } from "../filter.js";
import { conversationOf, type Message, toolsOf } from "../messages.js";
import { type Segment, segmentsOf } from "../segments.js";

export interface Attempt {
  /** Number of the segment in its episode, from 0, and how many there are. */
  segment: number;
  segments: number;
  prompt: Message[];
  completion: Message[];
  tools: string;
  /** Null where nobody told tokens. */
  tokens: Segment | null;
  /** The episode's score; null where it was not graded, so that a trainer leaves it out of the baseline. */
  reward: number | null;
  /** What the segment's own steps paid. */
  milestones: number;
  /** Messages of assistants in the completion. */
  turns: number;
}

/** The attempts of an episode: one for each of its segments, or one where there are no tokens. */
export function attemptsOf(episode: Episode): Attempt[] | LeftOut {
  if (episode.steps.length === 0) return "no_steps";
  const conversation = conversationOf(episode);
  if (conversation === null) return "no_parent";
  const { messages, turns } = conversation;
  const parts: (Segment | null)[] = segmentsOf(episode.steps);
  if (parts.length === 0) parts.push(null);
  return parts.map((tokens, segment) => {
    const steps = tokens?.steps ?? episode.steps;
    const from = turns.get(steps[0]?.step ?? 0) ?? 0;
    const to = turns.get(steps.at(-1)?.step ?? 0) ?? messages.length - 1;
    const completion = messages.slice(from, to + 1);
    return {
      segment,
      segments: parts.length,
      prompt: messages.slice(0, from),
      completion,
      tools: toolsOf(episode),
      tokens,
      reward: scoreOf(episode.verdict),
      milestones: steps.reduce((sum, { reward }) => sum + reward, 0),
      turns: completion.filter(({ role }) => role === "assistant").length,
    };
  });
}
