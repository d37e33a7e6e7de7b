/** What tests of rollouts over the wire share. */
import type { RolloutNotice } from "../../../src/wire/index.js";
import type { Peer } from "../../support/wire-server.js";

/** The result of `rollout.next`. */
export interface Pulled {
  done: boolean;
  rollout: string;
  group: string;
  replica: number;
  attempt: number;
  task: string;
  seed: number;
  session: string;
  token: string;
  params: Record<string, unknown>;
  observation: { instruction: string };
  info: Record<string, unknown>;
}

/** The next event of that kind that the peer was told of. */
export async function told<Kind extends RolloutNotice["event"]>(
  peer: Peer,
  event: Kind,
): Promise<Extract<RolloutNotice, { event: Kind }>> {
  return (await peer.wait((message) => message.event === event)) as unknown as Extract<
    RolloutNotice,
    { event: Kind }
  >;
}

/** Opens a rollout of scripted tasks; gives its name and token. */
export async function opened(
  peer: Peer,
  fields: Record<string, unknown> = {},
): Promise<{ rollout: string; token: string; seed: number; left_out: string[]; tasks: string[] }> {
  const which = fields["environment"] === undefined ? { tasks: ["scripted"] } : {};
  const { ok, error, result } = await peer.ask({ op: "rollout.open", ...which, ...fields });
  if (!ok) throw new Error(error.message);
  return result as unknown as Awaited<ReturnType<typeof opened>>;
}

export async function pulled(peer: Peer, rollout: string): Promise<Pulled> {
  const { ok, error, result } = await peer.ask({ op: "rollout.next", rollout });
  if (!ok) throw new Error(`${error.code}: ${error.message}`);
  return result as unknown as Pulled;
}

/** Plays one to its end: a step that is the last one, then close. */
export async function played(peer: Peer, { session }: Pulled): Promise<void> {
  await peer.ask({ op: "step", session, step: 1, actions: [{ type: "done" }] });
  await peer.ask({ op: "close", session });
}

export const stats = async (peer: Peer, rollout: string) =>
  (await peer.ask({ op: "rollout.stats", rollout })).result as unknown as {
    episodes: Record<string, number> & { again: Record<string, number> };
    groups: Record<string, number>;
    tasks: Record<string, { groups: number; weight: number }>;
    done: boolean;
  };
