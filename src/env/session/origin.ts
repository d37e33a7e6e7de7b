/** Seeds and clocks of forks, so that a fork can be made again. */
import { randomBytes } from "node:crypto";
import type { ForkOptions, Sandbox } from "../../sandbox/sandbox.js";
import type { ForkOrigin } from "../provenance.js";

const seedBytes = 32;

/** How a fork is made; `drawn` is filled in by it where its seed is nobody's choice. */
export interface ForkFacts {
  seed: Uint8Array | undefined;
  clock: ForkOptions["clock"];
  traced: boolean;
  drawn: Uint8Array | null;
}

/** Of a fork whose seed is given, drawn so that it is known afterwards, left to the machine, or told by a bundle. */
export function forkFacts(
  seed: Uint8Array | undefined,
  traced: boolean,
  origin: ForkOrigin | undefined,
): ForkFacts {
  if (origin === undefined) {
    const clock = seed === undefined && traced ? "now" : undefined;
    return { seed, clock, traced, drawn: null };
  }
  const told = origin.seed === null ? undefined : Buffer.from(origin.seed, "hex");
  return { seed: told, clock: origin.clock ?? undefined, traced: false, drawn: null };
}

/** For the machine's fork. */
export function forkOptions(facts: ForkFacts): ForkOptions {
  const { seed, clock, traced } = facts;
  if (seed !== undefined || !traced) return { seed, clock };
  const draw = () => (facts.drawn = randomBytes(seedBytes));
  return { seed: draw, clock };
}

/** What became of it. */
export function originOf(kind: ForkOrigin["kind"], { seed, drawn }: ForkFacts, machine: Sandbox): ForkOrigin {
  const known = seed ?? drawn;
  return {
    kind,
    seed: known === null ? null : Buffer.from(known).toString("hex"),
    clock: machine.clock ?? null,
  };
}
