import { afterEach, expect } from "vitest";
import { Session } from "../../src/env/session/session.js";
import { GoldenStore } from "../../src/env/session/goldens.js";
import { TaskScenario } from "../../src/env/session/task-scenario.js";
import { makeTask } from "../../src/env/task/index.js";
import type { EnvironmentEvent } from "../../src/env/environment.js";
import { HostProvider } from "../support/host-sandbox/index.js";

/** A small task: two files to write, one of them a milestone that can be lost again. */
export const document = {
  id: "two-files",
  version: "1.0.0",
  instruction: "Write one and two, {{times}} times.",
  params: { times: { type: "integer", min: 1, max: 1_000 } },
  setup: [
    { write: { path: "/home/agent/given", text: "given\n" } },
    { exec: { argv: ["sh", "-c", 'echo "$1" > /home/agent/times', "sh", { param: "times" }] } },
  ],
  ready: [{ file: "/home/agent/times" }],
  limits: { steps: 5, agent: { guest_seconds: 60 } },
  verify: {
    graph: {
      weighted: [
        {
          id: "one",
          channel: "fs",
          milestone: true,
          weight: 2,
          query: { kind: "text", path: "/home/agent/one" },
          assert: { type: "text", equals: "1\n" },
        },
        {
          id: "two",
          channel: "fs",
          milestone: true,
          revocable: true,
          weight: 1,
          query: { kind: "text", path: "/home/agent/two" },
          assert: { type: "text", equals: "2\n" },
        },
        {
          id: "given",
          channel: "fs",
          milestone: true,
          weight: 1,
          needs: [],
          query: { kind: "text", path: "/home/agent/given" },
          assert: { type: "text", equals: "given\n" },
        },
      ],
    },
  },
  oracle: [{ type: "exec", command: "echo 1 > one; echo 2 > two" }],
};

export type Change = Record<string, unknown>;

export interface World {
  provider: HostProvider;
  goldens: GoldenStore;
  session: Session;
  events: EnvironmentEvent[];
  another: () => Session;
  close: () => Promise<void>;
}

/** A session of the small task, with changes to its document, on a provider of its own. */
export function world(change: Change = {}): World {
  const provider = new HostProvider();
  const goldens = new GoldenStore(provider);
  const scenario = new TaskScenario(makeTask({ ...document, ...change }), goldens);
  const session = new Session(scenario);
  const events: EnvironmentEvent[] = [];
  session.onEvent((event) => events.push(event));
  return {
    provider,
    goldens,
    session,
    events,
    another: () => new Session(scenario),
    close: async () => {
      await session.close();
      goldens.close();
      await provider.close();
    },
  };
}

export const sh = (command: string) => ({ type: "exec", command });

/** Opens worlds for the tests of a file; after each test they are closed and must have left nothing behind. */
export function openWorlds(): (change?: Change) => World {
  const worlds: World[] = [];
  afterEach(async () => {
    for (const made of worlds.splice(0)) {
      await made.close();
      expect(made.provider.openMachines()).toBe(0);
      expect(made.provider.goldens).toBe(0);
    }
  });
  return (change = {}) => {
    const made = world(change);
    worlds.push(made);
    return made;
  };
}
