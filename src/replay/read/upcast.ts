/** Older events as the present version has them: one step a version, so that none is ever read in two ways. */
import type { Channel } from "../format/channels.js";
import { sknVersion } from "../format/version.js";

type Event = Record<string, unknown>;
type Step = (channel: Channel, event: Event) => Event;

/**
 * Steps by the version that they start from. Version 0 was never released: it proves the mechanism. It called the reward's field
 * `value`, put times in seconds under `t`, and knew nothing of branches and labels.
 */
const steps: Record<number, Step> = {
  0: (channel, event) => {
    const { t, ...rest } = event;
    const timed: Event = {
      ...rest,
      ...(typeof t === "number" ? { t_wall: Math.round(t * 1_000), t_guest: null } : {}),
    };
    if (channel === "session") return { parent: null, labels: {}, ...timed, skn: 1 };
    if (channel === "reward" && "value" in timed) {
      const { value, ...others } = timed;
      return { check: null, ...others, reward: value };
    }
    return timed;
  },
};

/** The event as the present version has it. */
export function upcast(channel: Channel, event: Event, version: number): Event {
  let current = event;
  for (let from = version; from < sknVersion; from += 1) current = steps[from]?.(channel, current) ?? current;
  return current;
}
