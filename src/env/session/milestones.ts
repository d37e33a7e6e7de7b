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
 * Reads the milestones that may change: those not yet earned, and held ones that can be revoked. A reward is paid once,
 * when a milestone first holds; one that could not be read pays nothing and loses nothing.
 */
export async function payMilestones(
  episode: Episode,
  emit: (event: EnvironmentEvent) => void,
): Promise<Payment> {
  const payment: Payment = { reward: 0, earned: [], lost: [], ungraded: [] };
  const { grader } = episode.start;
  if (grader === null) return payment;
  const open = grader.milestones.filter(({ id, revocable }) => revocable || !episode.held.has(id));
  if (open.length === 0) return payment;
  const reading = await grader.read(
    episode.machine,
    episode.record,
    open.map(({ id }) => id),
  );
  for (const { id, weight, revocable } of open) {
    if (reading.ungraded.has(id)) {
      payment.ungraded.push(id);
      continue;
    }
    const holds = reading.held.has(id);
    if (holds === episode.held.has(id)) continue;
    if (holds) {
      episode.held.add(id);
      payment.earned.push(id);
      payment.reward += weight;
      emit({ event: "milestone", check: id, reward: weight, step: episode.record.steps });
    } else if (revocable) {
      episode.held.delete(id);
      payment.lost.push(id);
      payment.reward -= weight;
      emit({ event: "milestone", check: id, reward: -weight, step: episode.record.steps });
    }
  }
  return payment;
}
