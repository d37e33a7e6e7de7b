import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { toolDescriptions } from "../../../src/env/aci/index.js";
import { call, type Completed } from "../../support/model-server.js";
import { makeTask } from "../../../src/env/task/index.js";
import { document } from "../../env/session-support.js";
import { begun, key, operatorAt, scene, stepped, task } from "./support.js";

describe("a model that plays", () => {
  it("is told the system prompt, the instruction and the tools of the task, with all that is fixed", async () => {
    const { player, asked } = await scene(() => call("shell", { command: "ls" }), {
      temperature: 0.5,
      top_p: 0.9,
      seed: 3,
      max_tokens: 100,
    });
    expect((await player.next(begun))?.actions).toEqual([{ type: "shell", command: "ls" }]);
    const { messages, tools, seed, ...rest } = asked(0);
    expect(messages.map(({ role }) => role)).toEqual(["system", "user"]);
    expect(messages[1]?.content).toBe("Write one and two.");
    expect(
      tools?.map(({ function: { name, description, parameters } }) => [name, description, parameters]),
    ).toEqual(
      toolDescriptions(new Set(task.variant().task.capabilities.agent)).map(
        ({ name, description, input_schema: parameters }) => [name, description, parameters],
      ),
    );
    expect(rest).toEqual({
      model: "local",
      temperature: 0.5,
      top_p: 0.9,
      max_tokens: 100,
      authorization: `Bearer ${key}`,
    });
    expect(seed).toBeGreaterThanOrEqual(0);
    expect(seed).toBeLessThan(2 ** 31);
  });

  it("is offered nothing that the task does not grant", async () => {
    const { server } = await scene(() => call("done"));
    const files = makeTask({
      ...document,
      capabilities: { agent: ["files"] },
      oracle: [{ type: "write_file", path: "one", content: "1\n" }],
    });
    await operatorAt(server).play(files.variant()).next(begun);
    const names = server.asked[0]?.tools?.map((tool) => tool.function.name);
    expect(names).toEqual(["read_file", "write_file", "edit_file", "wait", "done", "fail"]);
  });

  it("does several calls of a reply as one step, and is told each result under its call", async () => {
    const { player, asked } = await scene((_, count) =>
      count === 0
        ? {
            content: "Both.",
            calls: [
              { id: "a", name: "exec", arguments: '{"command":"echo 1 > one"}' },
              { id: "b", name: "shell", arguments: '{"command":"echo 2 > two"}' },
            ],
          }
        : call("done", { answer: "42" }),
    );
    const first = await player.next(begun);
    expect(first?.actions).toEqual([
      { type: "exec", command: "echo 1 > one" },
      { type: "shell", command: "echo 2 > two" },
    ]);
    const second = await player.next(stepped("", "two\n"));
    expect(second?.actions).toEqual([{ type: "done", answer: "42" }]);
    expect(asked(1).messages.slice(2)).toEqual([
      {
        role: "assistant",
        content: "Both.",
        tool_calls: [
          { id: "a", type: "function", function: { name: "exec", arguments: '{"command":"echo 1 > one"}' } },
          { id: "b", type: "function", function: { name: "shell", arguments: '{"command":"echo 2 > two"}' } },
        ],
      },
      { role: "tool", tool_call_id: "a", content: "[no output]" },
      { role: "tool", tool_call_id: "b", content: "two\n" },
    ]);
    expect(player.account?.()).toMatchObject({
      stopped: "done",
      requests: 2,
      tokens_in: 200,
      tokens_out: 20,
      estimated: false,
      served: "local-2026",
      fingerprint: "fp_1",
      dollars: null,
    });
    expect(await player.next(stepped("The task was ended as done."))).toBeNull();
  });

  it("gives calls without an id of their own one, so that no result belongs to two", async () => {
    const { player, asked } = await scene((_, count) =>
      count === 0
        ? { calls: ["x", "x", ""].map((id) => ({ id, name: "wait", arguments: '{"seconds":1}' })) }
        : call("done"),
    );
    await player.next(begun);
    await player.next(stepped("a", "b", "c"));
    const ids = asked(1).messages.flatMap(({ tool_call_id: id }) => (id === undefined ? [] : [id]));
    expect(new Set(ids).size).toBe(3);
    expect(asked(1).messages[2]?.tool_calls?.map(({ id }) => id)).toEqual(ids);
  });

  it("draws the same seed for the same episode, and another for another", async () => {
    const seeds = async (episode: number, seed = 3): Promise<number | undefined> => {
      const { player, asked } = await scene(() => call("done"), { seed });
      await player.next({ ...begun, info: { seed: episode } });
      return asked(0).seed;
    };
    const first = await seeds(1);
    expect(await seeds(1)).toBe(first);
    expect(await seeds(2)).not.toBe(first);
    expect(await seeds(1, 4)).not.toBe(first);
  });

  it("counts tokens itself where the endpoint does not, and says so", async () => {
    const { player } = await scene(() => ({ ...call("done"), usage: null }));
    const turn = await player.next(begun);
    const account = player.account?.();
    expect(account).toMatchObject({ estimated: true, requests: 1 });
    expect(account?.tokens_in).toBeGreaterThan(100);
    expect(turn?.decision?.["usage"]).toEqual({
      prompt_tokens: account?.tokens_in,
      completion_tokens: account?.tokens_out,
      estimated: true,
    });
  });
});

describe("what is recorded", () => {
  it("never holds the key, though the endpoint quotes it", async () => {
    const { player } = await scene(() => ({ ...call("done", { answer: key }), content: `Bearer ${key}` }));
    const turn = await player.next(begun);
    expect(turn?.actions).toEqual([{ type: "done", answer: "[secret]" }]);
    expect(turn?.decision).toMatchObject({ output: { content: "Bearer [secret]" } });
    expect(JSON.stringify([turn, player.account?.()])).not.toContain(key);
  });

  it("has log-probabilities only where they belong to the token ids one by one, and says what was left out", async () => {
    const said = { ...call("wait", { seconds: 1 }), promptIds: [1, 2], ids: [3, 4], logprobs: [-0.5] };
    const { player } = await scene((_, count) => (count === 0 ? said : { ...said, logprobs: [-0.5, -1] }));
    const first = await player.next(begun);
    expect(first?.decision).toMatchObject({
      prompt_token_ids: [1, 2],
      token_ids: [3, 4],
      left_out: ["logprobs"],
    });
    expect(first?.decision).not.toHaveProperty("logprobs");
    const second = await player.next(stepped("Waited."));
    expect(second?.decision).toMatchObject({ logprobs: [-0.5, -1] });
    expect(second?.decision).not.toHaveProperty("left_out");
  });
});

describe("a reply that is no step", () => {
  const bad: Record<string, [Completed, RegExp]> = {
    "no JSON": [{ calls: [{ name: "exec", arguments: '{"command": "ls' }] }, /not valid JSON/],
    "an unknown tool": [call("bash", { command: "ls" }), /there is no tool "bash"; tools are exec, shell/],
    "a misspelt tool": [call("shel", { command: "ls" }), /did you mean "shell"\?/],
    "an argument that is not there": [
      call("shell", { comand: "ls" }),
      /comand: there is no field.*"command"/,
    ],
    "an argument of the wrong type": [call("wait", { seconds: "1" }), /seconds: /],
    "a type of its own": [call("exec", { type: "shell", command: "ls" }), /type: there is no field/],
    "no object": [{ calls: [{ name: "exec", arguments: "[1]" }] }, /no JSON object/],
    "an end that is not the last": [
      { calls: [call("done"), call("wait", { seconds: 1 })].flatMap(({ calls = [] }) => calls) },
      /done ends the episode/,
    ],
    "plain text": [{ content: "I am done." }, /The reply called no tool/],
    nothing: [{ content: "" }, /The reply was empty/],
    "a text that was cut off": [
      { content: "First I will", finish: "length" },
      /cut off at its greatest length/,
    ],
    "a call that was cut off": [
      { calls: [{ name: "exec", arguments: '{"comm' }], finish: "length" },
      /not valid JSON.*cut off at its greatest length/,
    ],
    "one that a filter stopped": [{ content: "I", finish: "content_filter" }, /stopped by a filter/],
  };

  it.each(Object.entries(bad))(
    "with %s is answered with what is wrong, and nothing is done",
    async (_, [said, why]) => {
      const { player, asked } = await scene((__, count) => (count === 0 ? said : call("done")));
      const turn = await player.next(begun);
      expect(turn?.actions).toEqual([{ type: "done" }]);
      const answers = asked(1).messages.slice(3);
      const calls = said.calls?.length ?? 0;
      expect(answers.map(({ role }) => role)).toEqual(calls === 0 ? ["user"] : Array(calls).fill("tool"));
      expect(answers[0]?.content).toMatch(why);
      expect(player.account?.()).toMatchObject({ malformed: 1, requests: 2, stopped: "done" });
    },
  );

  it("says of the calls beside a wrong one that they were not done", async () => {
    const { player, asked } = await scene((_, count) =>
      count === 0
        ? { calls: [...(call("wait", { seconds: 1 }).calls ?? []), ...(call("nothing").calls ?? [])] }
        : call("done"),
    );
    await player.next(begun);
    expect(asked(1).messages[3]?.content).toBe("Not done, since another call of the same reply was wrong.");
  });

  it("ends the episode after as many in a row as are answered, and the count begins anew with each step", async () => {
    const { player, server } = await scene(
      (_, count) => (count % 3 === 2 && count < 6 ? call("wait", { seconds: 1 }) : { content: "Hm." }),
      { malformed: 2 },
    );
    expect(await player.next(begun)).not.toBeNull();
    expect(await player.next(stepped("a"))).not.toBeNull();
    expect(await player.next(stepped("b"))).toBeNull();
    expect(server.asked).toHaveLength(9);
    expect(player.account?.()).toMatchObject({
      stopped: "malformed",
      detail: "3 replies in a row were no step; the last: no call of a tool",
      malformed: 7,
    });
  });

  it("takes a call without arguments for one with none", async () => {
    const { player } = await scene(() => ({ calls: [{ name: "done", arguments: "" }] }));
    expect((await player.next(begun))?.actions).toEqual([{ type: "done" }]);
  });
});

describe("a budget", () => {
  const wait = call("wait", { seconds: 1 });
  const stops = async (budget: object, more: object = {}): Promise<[number, unknown]> => {
    const { player } = await scene((_, count) => call("wait", { seconds: count + 1 }), { budget, ...more });
    let steps = 0;
    let last = await player.next(begun);
    while (last !== null && steps < 20) {
      steps += 1;
      last = await player.next(stepped(String(steps)));
    }
    return [steps, player.account?.()];
  };

  it.each([
    [{ steps: 3 }, 3, "the budget of 3 steps is spent"],
    [{ tokens_in: 350 }, 4, "the budget of 350 tokens_in is spent"],
    [{ tokens_out: 20 }, 2, "the budget of 20 tokens_out is spent"],
    [{ dollars: 0.00021 }, 2, "the budget of 0.00021 dollars is spent"],
  ])("of %j ends the episode", async (budget, steps, detail) => {
    const [done, account] = await stops(budget, { price: { input: 1, output: 1 } });
    expect(done).toBe(steps);
    expect(account).toMatchObject({ stopped: "budget", detail });
  });

  it("of tokens bounds the last reply", async () => {
    const { player, asked } = await scene(() => wait, { budget: { tokens_out: 15 }, max_tokens: 12 });
    await player.next(begun);
    await player.next(stepped("1"));
    expect([asked(0).max_tokens, asked(1).max_tokens]).toEqual([12, 5]);
  });

  it("of wall time stops a request that is under way", async () => {
    const { player, server } = await scene(() => ({ never: true }), { budget: { wall_s: 0.2 } });
    expect(await player.next(begun)).toBeNull();
    expect(player.account?.()).toMatchObject({
      stopped: "budget",
      detail: "the budget of 0.2 wall_s is spent",
    });
    await expect.poll(() => server.aborted).toBe(1);
  });

  it("counts dollars by the price of a million tokens", async () => {
    const { player } = await scene(() => call("done"), { price: { input: 2, output: 10 } });
    await player.next(begun);
    expect(player.account?.().dollars).toBeCloseTo(0.0003, 12);
  });
});

describe("a model that goes round in circles", () => {
  it("is told so once, and the episode ends if it goes on", async () => {
    const { player, asked, server } = await scene(() => call("exec", { command: "ls" }));
    let last = await player.next(begun);
    for (let step = 0; last !== null && step < 20; step += 1) last = await player.next(stepped("same"));
    expect(server.asked).toHaveLength(6);
    const contents = (n: number) => asked(n).messages.map(({ content }) => content);
    expect(contents(2).filter((text) => text?.includes("[Note:"))).toEqual([]);
    expect(contents(3).at(-1)).toBe(
      "same\n\n[Note: the same step came 3 times in a row with the same result. Do something else; if this goes on the task is ended.]",
    );
    expect(contents(5).filter((text) => text?.includes("[Note:"))).toHaveLength(1);
    expect(player.account?.()).toMatchObject({
      stopped: "loop",
      detail: "the same step came 6 times in a row with the same result",
    });
  });

  it("is left alone while what it sees changes, or a milestone is earned, or nobody looks", async () => {
    const steps = async (result: (step: number) => object, settings = {}): Promise<number> => {
      const { player } = await scene(() => call("exec", { command: "ls" }), {
        budget: { steps: 9 },
        ...settings,
      });
      let count = 0;
      for (let last = await player.next(begun); last !== null; count += 1)
        last = await player.next({ ...stepped("same"), ...result(count) });
      return count;
    };
    expect(await steps((step) => stepped(String(step)))).toBe(9);
    expect(await steps(() => ({ info: { earned: ["one"] } }))).toBe(9);
    expect(await steps(() => ({}), { loop: null })).toBe(9);
    expect(await steps(() => ({}))).toBe(6);
  });
});

describe("cancelling", () => {
  it("stops the request that is under way, and nothing more is asked", async () => {
    const { player, server } = await scene(() => ({ never: true }));
    const controller = new AbortController();
    const next = player.next(begun, controller.signal);
    await expect.poll(() => server.asked.length).toBe(1);
    controller.abort(new Error("enough"));
    await expect(next).rejects.toThrow("enough");
    await expect.poll(() => server.aborted).toBe(1);
    expect(server.asked).toHaveLength(1);
  });

  it("stops waiting for the next try, too", async () => {
    const slow = { base_ms: 1e7, cap_ms: 1e7 };
    const { player, server } = await scene(() => ({ status: 503 }), { retry: slow });
    const controller = new AbortController();
    const next = player.next(begun, controller.signal);
    await expect.poll(() => player.account?.().retries).toBe(1);
    controller.abort(new Error("enough"));
    await expect(next).rejects.toThrow("enough");
    expect(server.asked).toHaveLength(1);
    await expect(player.next(begun, controller.signal)).rejects.toThrow("enough");
  });

  it("leaves no listener on the signal, however many requests it has seen", async () => {
    const { player } = await scene((_, count) => call("wait", { seconds: count + 1 }));
    const { signal } = new AbortController();
    await player.next(begun, signal);
    for (const text of ["1", "2", "3"]) await player.next(stepped(text), signal);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});
