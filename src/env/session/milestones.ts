import type { Milestone } from "../../verifiers/index.js";
import type { EnvironmentEvent } from "../environment.js";
import type { Episode } from "./episode.js";

export interface Payment {
  reward: number;
  earned: string[];
  /** Revocable milestones that no longer hold; their reward was taken back. */
  lost: string[];
  /** Milestones that could not be read this time; they are read again after the next step. */
  ungraded: string[];
  /** Host milliseconds that the reading took; null where nothing was asked. */
  ms: number | null;
}

/**
 * Reads the milestones and pays for them. A reward is paid once, when a milestone first holds; one that could not be
 * read pays nothing and loses nothing. A dense one pays its weight times what its score has grown since it was last paid, so that
 * all it pays is its weight times the way from the golden's score to the last: shaping by a potential (Ng, Harada and Russell 1999),
 * which leaves the best policy what it was. Rejects with `cancelled`, and nothing is paid, once `signal` is aborted.
 */
export async function payMilestones(
  episode: Episode,
  emit: (event: EnvironmentEvent) => void,
  signal: AbortSignal,
): Promise<Payment> {
  const payment: Payment = { reward: 0, earned: [], lost: [], ungraded: [], ms: null };
  const { grader } = episode.start;
  if (grader === null) return payment;
  const { record, held } = episode;
  const start = performance.now();
  const reading = await grader.read(episode.machine, record, held, signal);
  if (reading.asked > 0) payment.ms = performance.now() - start;
  const pay = (check: string, reward: number, partial = false) => {
    payment.reward += reward;
    const event = { event: "milestone", check, reward, step: record.steps } as const;
    emit(partial ? { ...event, partial } : event);
  };
  const settled = new Set<string>();
  for (const milestone of reading.earned) {
    const { id } = milestone;
    held.add(id);
    payment.earned.push(id);
    settled.add(id);
    pay(id, grown(episode, milestone, 1));
  }
  for (const milestone of reading.lost) {
    const { id } = milestone;
    held.delete(id);
    payment.lost.push(id);
    settled.add(id);
    pay(id, grown(episode, milestone, reading.scores.get(id) ?? 0));
  }
  for (const milestone of grader.dense) {
    const { id, revocable } = milestone;
    const score = reading.scores.get(id);
    // One that holds has been paid whole, whatever its score says beyond its threshold.
    if (score === undefined || settled.has(id) || held.has(id)) continue;
    if (!revocable && score <= (episode.scores.get(id) ?? 0)) continue;
    const reward = grown(episode, milestone, score);
    if (reward !== 0) pay(id, reward, true);
  }
  payment.ungraded.push(...reading.ungraded);
  return payment;
}

/** What a milestone pays now that its score is this; 1 where it is reached, 0 where it is lost and is not dense. */
function grown(episode: Episode, { id, weight, dense }: Milestone, score: number): number {
  if (!dense) return score === 1 ? weight : -weight;
  const before = episode.scores.get(id) ?? 0;
  episode.scores.set(id, score);
  return weight * (score - before);
}
