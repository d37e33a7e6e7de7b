import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ScriptedEnvironment } from "../support/scripted-environment.js";
import type { StepResult } from "../../src/env/environment.js";
import type { EnvironmentOptions } from "../../src/env/checkpoints.js";
import { ShinkenError } from "../../src/errors/index.js";
import { secretMark } from "../../src/replay/write/secrets.js";
import { bundles, eventsOf, everyByte, recorded, recordedEcho, recorder, say } from "./support/recording.js";

/** Answers whatever the test wants a guest to say. */
class Guest extends ScriptedEnvironment {
  answer: Record<string, unknown> = {};

  override async step(): Promise<StepResult> {
    const result = { type: "exec", text: "", truncated: false, ...this.answer };
    return Promise.resolve({
      observation: { results: [result] },
      reward: 0,
      terminated: false,
      truncated: false,
      info: {},
    });
  }
}

/** Plays steps of one action and one answer each; gives all bytes of the folder, and the events. */
async function play(
  steps: readonly [action: Record<string, unknown>, answer: Record<string, unknown>][],
  options: EnvironmentOptions & { token?: string; decision?: Record<string, unknown> } = {},
) {
  const into = recorder({ secrets: options.token === undefined ? [] : [options.token] });
  const guest = new Guest("scripted");
  const environment = recorded(guest, into, options);
  await environment.reset();
  for (const [action, answer] of steps) {
    guest.answer = answer;
    await environment.step([action], options.decision);
  }
  await environment.close();
  const events = await eventsOf(bundles(into.folder)[0] ?? "");
  return { bytes: await everyByte(into.folder), events };
}

const secret = "hunter2-Zx81";
/** Large enough for a file of its own, and to be compressed well. */
const long = (text: string): string => `${"line of a log\n".repeat(4_000)}${text}\n`;

describe("a secret", () => {
  it.each<[string, Record<string, unknown>, EnvironmentOptions]>([
    ["a field called password", { type: "fill", password: secret }, {}],
    ["a field within a field", { type: "http", auth: { Client_Secret: { value: secret } } }, {}],
    ["a header", { type: "http", headers: { "X-Session": secret } }, {}],
    ["a header in a list", { type: "http", headers: [["X-Session", secret]] }, {}],
    [
      "a header with its name beside it",
      { type: "http", extra_headers: [{ name: "X-Session", value: secret }] },
      {},
    ],
    ["a key of a model", { type: "x", openai_api_key: secret }, {}],
    ["a bearer token", { type: "http", headers: { Authorization: `Bearer ${secret}` } }, {}],
    ["a cookie", { type: "http", headers: { Cookie: `theme=dark; sid=${secret}` } }, {}],
    ["a variable with a telling name", { type: "exec", env: { DB_PASSWORD: secret } }, {}],
    [
      "a variable that the client marked",
      { type: "exec", env: { DSN: secret } },
      { secrets: { variables: ["DSN"] } },
    ],
    ["a value that the client named", say(`login ${secret}`), { secrets: { values: [secret] } }],
  ])("that was %s is nowhere, nor where a guest repeats it", async (_name, action, options) => {
    const { bytes, events } = await play(
      [
        [action, { text: `you said ${secret}!` }],
        [say("again"), { text: long(secret), data: Buffer.from(`<${secret}>`) }],
        [
          say("and again"),
          { text: long(`changed ${secret}`), [`file-${secret}`]: Buffer.from(long(secret)) },
        ],
      ],
      options,
    );
    expect(bytes.includes(secret)).toBe(false);
    expect(bytes.includes("hunter2")).toBe(false);
    const [first] = events.filter(({ channel, step }) => channel === "observation" && step === 1);
    expect(first).toMatchObject({
      observation: { results: [{ text: `you said ${secretMark}!` }] },
      redacted: ["/observation/results/0/text"],
    });
  });

  it("of the server is nowhere, whoever says it", async () => {
    const token = "tok-0123456789abcdef";
    const { bytes } = await play([[say(token), { text: token, error: { message: `bad ${token}` } }]], {
      token,
      labels: { run: token },
      decision: { output: token, input: [{ role: "user", content: token }] },
    });
    expect(bytes.includes(token)).toBe(false);
    expect(bytes.includes(secretMark)).toBe(true);
  });

  it("is out of what the model wrote before it was done", async () => {
    const { bytes } = await play([[{ type: "exec", env: { API_TOKEN: secret } }, { text: "" }]], {
      decision: { output: JSON.stringify({ env: { API_TOKEN: secret } }) },
    });
    expect(bytes.includes(secret)).toBe(false);
  });

  it("takes the token ids and log-probabilities of decisions with it, from there on", async () => {
    const decision = { output: "go", prompt_token_ids: [1, 2], token_ids: [3], logprobs: [-0.5] };
    const { events } = await play(
      [
        [say("a"), { text: "" }],
        [{ type: "exec", command: `API_TOKEN=${secret} ./run` }, { text: "" }],
        [say("b"), { text: "" }],
      ],
      { decision },
    );
    const decisions = events.filter(({ channel }) => channel === "decision");
    expect(decisions[0]).toMatchObject(decision);
    expect(decisions[2]).toMatchObject({
      output: "go",
      redacted: ["/prompt_token_ids", "/token_ids", "/logprobs"],
    });
    expect(decisions[2]).not.toHaveProperty("token_ids");
  });

  it("stays one after a reset, and in a branch", async () => {
    const into = recorder();
    const environment = recorded(new Guest("scripted"), into);
    await environment.reset();
    await environment.step([{ type: "exec", env: { API_TOKEN: secret } }]);
    const branch = await environment.fork();
    await branch.step([say(`branch ${secret}`)]);
    await branch.close();
    await environment.reset();
    await environment.step([say(`again ${secret}`)]);
    await environment.close();
    expect((await everyByte(into.folder)).includes(secret)).toBe(false);
    expect(bundles(into.folder)).toHaveLength(3);
  });

  it("stays one after a reset that failed, and in a branch that outlives its parent", async () => {
    const into = recorder();
    const guest = new Guest("scripted");
    const environment = recorded(guest, into);
    await environment.reset();
    await environment.step([{ type: "exec", env: { API_TOKEN: secret } }]);
    const branch = await environment.fork();
    const works = guest.reset.bind(guest);
    guest.reset = () => Promise.reject(new ShinkenError("setup_failed", "no golden"));
    await expect(environment.reset()).rejects.toMatchObject({ code: "setup_failed" });
    guest.reset = works;
    await environment.reset();
    await environment.step([say(`again ${secret}`)]);
    await environment.close();
    await environment.close();
    await branch.step([say(`branch ${secret}`)]);
    await branch.close();
    await into.close();
    expect((await everyByte(into.folder)).includes(secret)).toBe(false);
    expect(bundles(into.folder)).toHaveLength(3);
  });

  it("is left out where it stands, with its path, and the rest stays", async () => {
    const { events } = await play([
      [
        {
          type: "http",
          url: "http://a/b",
          headers: { Authorization: "Basic dTpwYXNzd29yZA==", Accept: "text/html" },
        },
        { text: "text/html it is" },
      ],
    ]);
    expect(events.find(({ channel }) => channel === "action")).toMatchObject({
      action: { url: "http://a/b", headers: { Authorization: secretMark, Accept: secretMark } },
      redacted: ["/action/headers/Authorization", "/action/headers/Accept"],
    });
    // What every request says is no secret anywhere else.
    expect(events.find(({ channel, step }) => channel === "observation" && step === 1)).toMatchObject({
      observation: { results: [{ text: "text/html it is" }] },
    });
  });

  it("leaves the names of headers, and what every request says, as they are", async () => {
    const header = { name: "Content-Type", value: "application/json" };
    const { events } = await play([
      [{ type: "http", headers: [header] }, { text: "Content-Type: application/json" }],
    ]);
    expect(events.find(({ channel }) => channel === "action")).toMatchObject({
      action: { headers: [{ name: "Content-Type", value: secretMark }] },
    });
    expect(events.find(({ channel, step }) => channel === "observation" && step === 1)).toMatchObject({
      observation: { results: [{ text: "Content-Type: application/json" }] },
    });
  });

  it("is found before the field that tells of it, and within another that begins like it", async () => {
    const longer = `${secret}-and-more`;
    const { bytes } = await play(
      [[{ type: "x", note: `first ${longer}`, password: longer }, { text: `${longer} ${secret}` }]],
      { secrets: { values: [secret] } },
    );
    expect(bytes.includes(secret)).toBe(false);
    expect(bytes.includes("and-more")).toBe(false);
  });

  it("is found as JSON and addresses write it, and without the line's end that it had", async () => {
    const spiky = 'p"ss w\\rd/ü\n';
    const { bytes } = await play([
      [{ type: "fill", password: spiky }, { text: JSON.stringify({ got: spiky.trim() }) }],
      [say("a"), { text: `http://x/?q=${encodeURIComponent(spiky.trim())}` }],
      [say("b"), { text: `<${spiky.trim()}>` }],
    ]);
    for (const form of ['p\\"ss w\\\\rd', "p%22ss", 'p"ss w']) expect(bytes.includes(form), form).toBe(false);
  });

  it("that is a number is found as text", async () => {
    const { bytes } = await play([[{ type: "fill", password: 70_431_186 }, { text: "pin 70431186" }]]);
    expect(bytes.includes("70431186")).toBe(false);
  });

  it("is nowhere in a marker that tells of a refused step", async () => {
    const into = recorder();
    const environment = recordedEcho(into, { secrets: { values: [secret] } });
    await environment.reset();
    const told = { type: 5, text: secret };
    await expect(environment.step([told])).rejects.toThrow();
    await environment.close();
    expect((await everyByte(into.folder)).includes(secret)).toBe(false);
  });
});

describe("what only looks like a secret", () => {
  it("stays: the tokens of log-probabilities, short values, and counts of tokens", async () => {
    const decision = {
      output: { content: [{ token: "function", logprob: -0.1 }] },
      token_ids: [1, 2, 3],
      usage: { total_tokens: 123_456 },
    };
    const { events } = await play(
      [[{ type: "fill", password: "yes" }, { text: "yes, the function 123456" }]],
      {
        decision,
      },
    );
    expect(events.find(({ channel }) => channel === "decision")).toMatchObject(decision);
    expect(events.find(({ channel, step }) => channel === "observation" && step === 1)).toMatchObject({
      observation: { results: [{ text: "yes, the function 123456" }] },
    });
    expect(events.find(({ channel }) => channel === "action")).toMatchObject({
      action: { password: secretMark },
    });
  });

  it("is told apart by session: one's secret is another's ordinary word", async () => {
    const into = recorder();
    const [one, other] = [recordedEcho(into, { secrets: { values: ["ordinary"] } }), recordedEcho(into)];
    await Promise.all([one.reset(), other.reset()]);
    await Promise.all([one.step([say("ordinary")]), other.step([say("ordinary")])]);
    const file = join(into.folder, other.bundle?.file ?? "");
    await Promise.all([one.close(), other.close()]);
    expect(await eventsOf(file)).toContainEqual(
      expect.objectContaining({ action: say("ordinary"), channel: "action" }),
    );
  });
});
