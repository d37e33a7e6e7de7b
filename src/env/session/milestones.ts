import type { EnvironmentEvent } from "../environment.js";
import type { Episode } from "./episode.js";

export interface Payment {
  reward: number;
  earned: string[];
  /** Revocable milestones that no longer hold; their reward was taken back. */
  lost: string[];
  /** Milestones that could not be read this time; they are read again after the next step. */
  ungraded: string[];
}

/**
 * Reads the milestones and pays for them. A reward is paid once, when a milestone first holds; one that could not be
 * read pays nothing and loses nothing. Rejects with `cancelled`, and nothing is paid, once `signal` is aborted.
 */
export async function payMilestones(
  episode: Episode,
  emit: (event: EnvironmentEvent) => void,
  signal: AbortSignal,
): Promise<Payment> {
  const payment: Payment = { reward: 0, earned: [], lost: [], ungraded: [] };
  const { grader } = episode.start;
  if (grader === null) return payment;
  const { record, held } = episode;
  const reading = await grader.read(episode.machine, record, held, signal);
  const pay = (check: string, reward: number) => {
    payment.reward += reward;
    emit({ event: "milestone", check, reward, step: record.steps });
  };
  for (const { id, weight } of reading.earned) {
    held.add(id);
    payment.earned.push(id);
    pay(id, weight);
  }
  for (const { id, weight } of reading.lost) {
    held.delete(id);
    payment.lost.push(id);
    pay(id, -weight);
  }
  payment.ungraded.push(...reading.ungraded);
  return payment;
}
