/** A rollout of echo episodes on a clock that the test moves. */
import { EchoEnvironment } from "../../../src/env/index.js";
import type { ShinkenError } from "../../../src/errors/index.js";
import {
  type Lease,
  type PlannedEpisode,
  type PreparedEpisode,
  Rollout,
  type RolloutEvent,
  type RolloutSpec,
} from "../../../src/rollout/pull/index.js";

export const spec: RolloutSpec = {
  tasks: ["a"],
  group: 1,
  seed: 5,
  seeds: [],
  weights: {},
  priorities: {},
  quotas: {},
  groups: null,
  warm: { min: 0, max: 16 },
  stragglers: { policy: "wait", quorum: 1, afterMs: 1_000 },
  attempts: 3,
  gradable: false,
};

export class World {
  now = 0;
  readonly events: RolloutEvent[] = [];
  /** Machines that are there. */
  open = 0;
  prepared = 0;
  /** Rejects the preparation where it gives an error. */
  refuse: (episode: PlannedEpisode) => ShinkenError | undefined = () => undefined;
  /** Preparations wait for it. */
  gate: Promise<void> = Promise.resolve();
  readonly rollout: Rollout;

  constructor(change: Partial<RolloutSpec> = {}) {
    this.rollout = new Rollout(
      { ...spec, ...change },
      {
        now: () => this.now,
        draw: (task, seed) => ({ task, seed }),
        prepare: (episode) => this.#prepare(episode),
        emit: (event) => this.events.push(event),
      },
    );
  }

  async #prepare(episode: PlannedEpisode): Promise<PreparedEpisode> {
    await this.gate;
    const error = this.refuse(episode);
    if (error !== undefined) throw error;
    const environment = new EchoEnvironment();
    const reset = await environment.reset({ seed: episode.name.seed });
    this.open += 1;
    this.prepared += 1;
    let closed = false;
    const close = environment.close.bind(environment);
    environment.close = async () => {
      if (!closed) this.open -= 1;
      closed = true;
      await close();
    };
    return { environment, reset, discard: () => environment.close() };
  }

  async pull(): Promise<Lease> {
    const lease = await this.rollout.pull().promise;
    if (lease === null) throw new Error("there are no more");
    return lease;
  }

  /** Told events of one kind. */
  told<Kind extends RolloutEvent["event"]>(kind: Kind): Extract<RolloutEvent, { event: Kind }>[] {
    return this.events.filter(
      (event): event is Extract<RolloutEvent, { event: Kind }> => event.event === kind,
    );
  }
}

/** Plays an echo episode to its end. */
export async function play({ environment }: Lease): Promise<void> {
  await environment.step([{ type: "done" }]);
  await environment.finish();
  await environment.close();
}

/** Lets what is on its way arrive. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}
