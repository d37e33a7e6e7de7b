import { describe, expect, it } from "vitest";
import type { PastStep } from "../../../src/operator/index.js";
import { type Asked, call, type Said } from "../../support/model-server.js";
import { begun, operatorAt, raise, serve, stepped, task } from "./support.js";

const block = (name: string, fields: object) => ({
  content: `\`\`\`json\n${JSON.stringify({ name, arguments: fields })}\n\`\`\``,
});

/** What two steps of a model leave behind. */
async function played(say: (asked: Asked, count: number) => Said, settings: object): Promise<PastStep[]> {
  const player = operatorAt(await serve(say), settings).play(task.variant());
  const past: PastStep[] = [];
  let last = await player.next(begun);
  for (const text of ["one", "two"]) {
    const { actions, decision = null } = last ?? raise("it stopped");
    const { observation } = stepped(text);
    past.push({ actions, observation, decision });
    if (past.length < 2) last = await player.next(stepped(text));
  }
  return past;
}

/** As an environment tells the state in which a branch begins. */
const found = { observation: { ...stepped("two").observation, instruction: "Write one and two." }, info: {} };

describe("a model that goes on from a step", () => {
  it.each([
    ["tools", () => call("shell", { command: "ls" })],
    ["text", () => block("shell", { command: "ls" })],
  ] as const)("has what was recorded before it, in the dialect %s", async (dialect, say) => {
    const past = await played(say, { dialect });
    const server = await serve(say);
    const turn = await operatorAt(server, { dialect }).play(task.variant(), past).next(found);
    expect(turn?.actions).toEqual([{ type: "shell", command: "ls" }]);
    const messages = server.asked[0]?.messages ?? [];
    const before = past[1]?.decision?.["input"] as unknown[];
    expect(messages.slice(0, before.length)).toEqual(before);
    expect(messages.slice(before.length).map(({ role }) => role)).toEqual([
      "assistant",
      dialect === "tools" ? "tool" : "user",
    ]);
    expect(messages.at(-1)?.content).toContain("two");
  });

  it.each<[string, (past: PastStep[]) => PastStep[]]>([
    ["nobody told", (past) => past.map((one) => ({ ...one, decision: null }))],
    [
      "another scaffold did",
      (past) => past.map((one) => ({ ...one, decision: { ...one.decision, scaffold: "x" } })),
    ],
    [
      "they are damaged",
      (past) => past.map((one) => ({ ...one, decision: { ...one.decision, input: [{}] } })),
    ],
  ])("begins with the instruction alone where %s", async (_, change) => {
    const past = change(await played(() => call("shell", { command: "ls" }), {}));
    const server = await serve(() => call("done"));
    await operatorAt(server).play(task.variant(), past).next(found);
    expect(
      server.asked[0]?.messages.map(({ role, content }) => (role === "system" ? role : content)),
    ).toEqual(["system", "Write one and two."]);
  });

  it("draws a seed of its own for each branch, and the same ones again", async () => {
    const past = await played(() => call("shell", { command: "ls" }), { seed: 1 });
    const server = await serve(() => call("done"));
    for (const _ of [1, 2]) {
      const operator = operatorAt(server, { seed: 1 });
      await operator.play(task.variant(), past).next(found);
      await operator.play(task.variant(), past).next(found);
    }
    const [first, second, ...again] = server.asked.map(({ seed }) => seed);
    expect(first).not.toBe(second);
    expect(again).toEqual([first, second]);
  });
});
