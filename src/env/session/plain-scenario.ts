import { ShinkenError } from "../../errors/index.js";
import { agentCapabilities } from "../task/index.js";
import type { GoldenStore } from "./goldens.js";
import type { Scenario, Start } from "./scenario.js";

/** Host seconds of work after which a plain sandbox counts as stuck. */
const wallSeconds = 24 * 3_600;

/** A bare image: all actions, no limits but the safety net, nothing graded. */
export class PlainScenario implements Scenario {
  readonly id: string;
  readonly version = "1.0.0";
  readonly image: string;
  readonly #goldens: GoldenStore;

  constructor(image: string, goldens: GoldenStore) {
    this.id = `sandbox:${image}`;
    this.image = image;
    this.#goldens = goldens;
  }

  start(_seed: number, params: Record<string, unknown> = {}): Start {
    const [unknown] = Object.keys(params);
    if (unknown !== undefined) {
      throw new ShinkenError("bad_request", `params.${unknown}: a plain sandbox has no parameters`, {
        path: `params.${unknown}`,
      });
    }
    return {
      instruction: undefined,
      params: {},
      digest: this.id,
      user: "agent",
      home: "/home/agent",
      cwd: "/home/agent",
      granted: new Set(agentCapabilities),
      limits: {
        steps: Number.POSITIVE_INFINITY,
        guestSeconds: Number.POSITIVE_INFINITY,
        instructions: Number.POSITIVE_INFINITY,
        wallSeconds,
      },
      grader: null,
      golden: () => this.#goldens.forImage(this.image),
    };
  }
}
