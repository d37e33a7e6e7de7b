import { describe, expect, it } from "vitest";
import { isInfrastructure, ShinkenError } from "../../../src/errors/index.js";
import { waitBefore } from "../../../src/operator/model/retry.js";
import { evaluateTaskSet } from "../../../src/rollout/index.js";
import { EchoEnvironment } from "../../../src/env/index.js";
import { call, type Said } from "../../support/model-server.js";
import { begun, hasty, key, operatorAt, scene, serve, stepped, task } from "./support.js";

const policy = { tries: 6, base_ms: 100, cap_ms: 1_000, patience_ms: 5_000 };

describe("an endpoint that fails for a while", () => {
  it.each<[string, Said]>([
    ["429", { status: 429 }],
    ["429 with a Retry-After", { status: 429, headers: { "retry-after": "0" } }],
    ["500", { status: 500 }],
    ["503", { status: 503 }],
    ["a connection that is dropped", { drop: "before" }],
    ["a reply that breaks off", { drop: "within" }],
    ["a body that is no JSON", { body: "<html>" }],
    ["JSON that is no completion", { body: '{"choices": []}' }],
    ["a call without a name", { body: '{"choices": [{"message": {"tool_calls": [{"function": {}}]}}]}' }],
  ])("by %s is asked again", async (_, fault) => {
    const { player, server } = await scene((__, count) => (count < 2 ? fault : call("done")));
    const turn = await player.next(begun);
    expect(turn?.actions).toEqual([{ type: "done" }]);
    expect(turn?.decision).not.toHaveProperty("attempts");
    expect(server.asked).toHaveLength(3);
    expect(player.account?.()).toMatchObject({ retries: 2, requests: 1, tokens_in: 100 });
  });

  it("by not answering in time is asked again", async () => {
    const { player, server } = await scene((_, count) => (count === 0 ? { never: true } : call("done")), {
      timeout_s: 0.2,
    });
    expect(await player.next(begun)).not.toBeNull();
    expect(server.asked).toHaveLength(2);
  });
});

describe("an endpoint that goes on failing", () => {
  it.each<[string, Said, string]>([
    ["429", { status: 429 }, "429 no (3 tries)"],
    ["503", { status: 503 }, "503 no (3 tries)"],
    ["dropped connections", { drop: "before" }, "(3 tries)"],
    ["bodies that are no JSON", { body: "<html>" }, "(3 tries)"],
  ])("by %s is given up after its tries, as a failure of the harness", async (_, fault, why) => {
    const { player, server } = await scene(() => fault, { retry: { ...hasty, tries: 3 } });
    const error = await player.next(begun).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "model_failed", retry: true });
    expect((error as Error).message).toContain(why);
    expect(isInfrastructure(error)).toBe(true);
    expect(server.asked).toHaveLength(3);
  });

  it.each<[string, Said]>([
    ["a wrong key", { status: 401, error: { message: `wrong key ${key}` } }],
    ["an unknown model", { status: 404, error: { message: "no such model" } }],
    ["a field that it does not know", { status: 400, error: { message: "unknown field" } }],
    ["a quota that is used up", { status: 429, error: { code: "insufficient_quota" } }],
  ])("by %s is not asked again", async (_, fault) => {
    const { player, server } = await scene(() => fault);
    const error = await player.next(begun).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "model_refused", retry: false });
    expect(JSON.stringify([(error as ShinkenError).toJSON(), String((error as Error).stack)])).not.toContain(
      key,
    );
    expect(isInfrastructure(error)).toBe(true);
    expect(server.asked).toHaveLength(1);
  });

  it("is given up at once if it asks for a longer wait than there is patience for", async () => {
    const { player, server } = await scene(() => ({ status: 429, headers: { "retry-after": "3600" } }));
    await expect(player.next(begun)).rejects.toThrow("it asks to wait for 3600 s");
    expect(server.asked).toHaveLength(1);
  });

  it("leaves the episode ungraded, never at 0, and tells what was used", async () => {
    const server = await serve((_, count) => (count === 0 ? call("wait", { seconds: 1 }) : { status: 500 }));
    const operator = operatorAt(server, { retry: { ...hasty, tries: 2 } });
    const environment = new EchoEnvironment();
    environment.reset = () => Promise.resolve(begun);
    environment.step = () => Promise.resolve(stepped("Waited."));
    const client = { create: () => Promise.resolve(environment), close: () => Promise.resolve() };
    const { episodes } = await evaluateTaskSet({
      tasks: [task],
      operator,
      replicas: 1,
      seed: 1,
      connect: () => Promise.resolve(client),
      pipeline: { retries: 0 },
    });
    const [outcome] = episodes;
    expect(outcome).toMatchObject({ status: "ungraded", score: null, passed: null });
    expect(outcome?.reason).toMatch(/^model_failed: model "local" at http/);
    expect(outcome?.account).toMatchObject({ stopped: null, requests: 1, retries: 1, tokens_in: 100 });
  });
});

describe("the wait before a further try", () => {
  it("is a random share of a time that doubles up to a cap", () => {
    const longest = [1, 2, 3, 4, 5, 6].map((n) => waitBefore(n, null, policy, () => 1));
    expect(longest).toEqual([100, 200, 400, 800, 1_000, 1_000]);
    expect(waitBefore(3, null, policy, () => 0)).toBe(0);
    expect(waitBefore(3, null, policy, () => 0.25)).toBe(100);
  });

  it("begins after what the endpoint asked for, if there is patience for it", () => {
    expect(waitBefore(1, 2_000, policy, () => 0.5)).toBe(2_050);
    expect(waitBefore(1, 5_000, policy, () => 0)).toBe(5_000);
    expect(waitBefore(1, 5_001, policy, () => 0)).toBeNull();
  });

  it.each([
    ["seconds", () => "2"],
    ["a date", () => new Date(Date.now() + 60_000).toUTCString()],
  ])("heeds a Retry-After in %s", async (_, value) => {
    const { player } = await scene(() => ({ status: 429, headers: { "retry-after": value() } }), {
      retry: { ...hasty, patience_ms: 1_000 },
    });
    await expect(player.next(begun)).rejects.toThrow(
      /429 no \(it asks to wait for \d+ s, which is too long\)/,
    );
  });
});

describe("a context that is smaller than we count", () => {
  const tooLong: Said = { status: 400, error: { code: "context_length_exceeded" } };

  it("is tried with less, and with less from then on", async () => {
    const longest = 20_000;
    const { player, server } = await scene(({ messages }, count) =>
      JSON.stringify(messages).length > longest ? tooLong : call("exec", { command: `seq ${count}` }),
    );
    let steps = 0;
    let last = await player.next(begun);
    while (last !== null && steps < 40) {
      steps += 1;
      last = await player.next(stepped(`${steps} `.repeat(500)));
    }
    expect(steps).toBe(40);
    const refused = server.asked.filter(({ messages }) => JSON.stringify(messages).length > longest);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThanOrEqual(4);
  });

  it("is given up as refused if nothing helps", async () => {
    const { player, server } = await scene(() => tooLong);
    await expect(player.next(begun)).rejects.toMatchObject({ code: "model_refused" });
    expect(server.asked).toHaveLength(5);
  });
});
