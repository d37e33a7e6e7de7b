/** A model's player against a local server, and results as an environment would give them. */
import { afterEach } from "vitest";
import type { ResetResult, StepResult } from "../../../src/env/environment.js";
import { makeTask } from "../../../src/env/task/index.js";
import {
  modelOperator,
  type ModelSettingsInput,
  type Operator,
  type Player,
} from "../../../src/operator/index.js";
import { document } from "../../env/session-support.js";
import { type Asked, type ModelServer, openModelServer, type Said } from "../../support/model-server.js";

export const key = "sk-test-0123456789";
export const task = makeTask(document);

const servers: ModelServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** Waits of no length: what is tested is how often and after what, not how long. */
export const hasty = { base_ms: 0, cap_ms: 0 };

export async function serve(say: (asked: Asked, count: number) => Said): Promise<ModelServer> {
  const server = await openModelServer(say);
  servers.push(server);
  return server;
}

export function operatorAt(server: ModelServer, settings: Partial<ModelSettingsInput> = {}): Operator {
  return modelOperator({ base_url: server.url, model: "local", retry: hasty, ...settings }, key);
}

export interface Scene {
  server: ModelServer;
  player: Player;
  /** What the n-th request asked for. */
  asked: (n: number) => Asked;
}

export async function scene(
  say: (asked: Asked, count: number) => Said,
  settings: Partial<ModelSettingsInput> = {},
): Promise<Scene> {
  const server = await serve(say);
  const player = operatorAt(server, settings).play(task.variant());
  const asked = (n: number): Asked => server.asked[n] ?? raise(`there was no request ${n}`);
  return { server, player, asked };
}

export const begun: ResetResult = {
  observation: { instruction: "Write one and two.", results: [] },
  info: { seed: 7 },
};

/** A step that gave these texts. */
export function stepped(...texts: string[]): StepResult {
  return {
    observation: { results: texts.map((text) => ({ type: "exec", text, truncated: false })) },
    reward: 0,
    terminated: false,
    truncated: false,
    info: {},
  };
}

export function raise(why: string): never {
  throw new Error(why);
}
