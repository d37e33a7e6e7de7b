/** Made-up episodes, written through the recorder: what exports and looks are held to. */
import type { Channel } from "../../../src/replay/index.js";
import type { Recorder } from "../../../src/replay/index.js";

export interface ExampleEvent {
  channel: Channel;
  step: number;
  guest?: number;
  action?: string;
  payload: Record<string, unknown>;
}

export interface Example {
  task: string;
  session?: Record<string, unknown>;
  events: ExampleEvent[];
}

/** Writes the episode; gives its id and its file, relative to the recorder's folder. */
export async function writeExample(
  recorder: Recorder,
  { task, session = {}, events }: Example,
): Promise<{ episode: string; file: string }> {
  const recording = recorder.open({ task });
  const { episode, file } = recording;
  const facts = {
    skn: 1,
    episode,
    task,
    task_version: "1.0.0",
    verifier: "v1",
    task_set: null,
    variant: "d1",
    params: {},
    seed: 7,
    image: null,
    golden: null,
    machine_abi: null,
    provider: null,
    memory: null,
    fork: null,
    parent: null,
    labels: {},
    runtime: recorder.runtime,
    host: {},
    ...session,
  };
  recording.event("session", { step: 0, guest: null }, facts);
  for (const { channel, step, guest, action, payload } of events)
    recording.event(channel, { step, guest: guest ?? step * 10, action }, payload);
  await recording.finish();
  return { episode, file };
}

export function start(instruction: string): ExampleEvent {
  const payload = {
    observation: { instruction, results: [] },
    terminated: false,
    truncated: false,
    info: {},
  };
  return { channel: "observation", step: 0, payload };
}

export interface StepParts {
  actions: Record<string, unknown>[];
  results: Record<string, unknown>[];
  reward?: number;
  milestones?: { check: string; reward: number }[];
  decision?: Record<string, unknown>;
  terminated?: boolean;
}

/** The events of an answered step, in the order in which sessions tell them. */
export function stepEvents(step: number, parts: StepParts): ExampleEvent[] {
  const { actions, results, reward = 0, milestones = [], decision, terminated = false } = parts;
  return [
    ...(decision === undefined ? [] : [{ channel: "decision" as const, step, payload: decision }]),
    ...actions.map((action, index) => ({
      channel: "action" as const,
      step,
      action: `${step}.${index}`,
      payload: { action },
    })),
    ...milestones.map((milestone) => ({ channel: "reward" as const, step, payload: { ...milestone } })),
    ...(reward === 0 ? [] : [{ channel: "reward" as const, step, payload: { reward, check: null } }]),
    {
      channel: "observation",
      step,
      payload: { observation: { results }, terminated, truncated: false, info: { step } },
    },
    {
      channel: "snapshot",
      step,
      payload: { digest: `state-${step}`, instructions: step * 100, guest_ms: step * 10, pages: null },
    },
  ];
}

export function verdictEvent(
  step: number,
  verdict: { status: "graded" | "ungraded"; score: number | null; passed: boolean | null; reason?: string },
  task = "letters",
): ExampleEvent {
  const check = { id: "file", status: "passed", score: 1, weight: 1, evidence: "as expected", ms: 1 };
  return {
    channel: "verdict",
    step,
    payload: {
      verdict: {
        task,
        taskVersion: "1.0.0",
        verifierVersion: "v1",
        checks: verdict.status === "graded" ? [check] : [],
        ...verdict,
      },
      verifier: "v1",
      ms: 2,
    },
  };
}

const said = (text: string, extra: Record<string, unknown> = {}): Record<string, unknown> => ({
  type: "shell",
  text,
  truncated: false,
  ...extra,
});

/** A model's episode: contexts grow, a step was refused and asked anew, a milestone is paid; 0.75, not passed. */
export const letters: Example = {
  task: "letters",
  session: {
    labels: { run: "r1", group: "g1", replica: 0, operator: "model" },
    params: { name: "Ada" },
    granted: ["exec", "files", "shell"],
  },
  events: [
    start("Write a letter to Ada."),
    {
      channel: "decision",
      step: 1,
      payload: { model: "m-1", prompt_token_ids: [1], token_ids: [99], logprobs: [-9] },
    },
    { channel: "action", step: 1, action: "1.0", payload: { action: { type: "shel", command: "ls" } } },
    { channel: "marker", step: 1, payload: { kind: "refused", message: 'there is no action "shel"' } },
    ...stepEvents(1, {
      actions: [{ type: "write_file", path: "letter.txt", content: "Dear Ada,\nhow are you?\n" }],
      results: [
        {
          type: "write_file",
          text: "Wrote 23 bytes to /home/agent/letter.txt.",
          truncated: false,
          path: "/home/agent/letter.txt",
        },
      ],
      decision: {
        model: "m-1",
        output: "I write it down.",
        prompt_token_ids: [1, 2, 3],
        token_ids: [10, 11],
        logprobs: [-0.5, -0.25],
        usage: { input_tokens: 3, output_tokens: 2 },
      },
      reward: 1,
      milestones: [{ check: "written", reward: 1 }],
    }),
    ...stepEvents(2, {
      actions: [
        { type: "edit_file", path: "letter.txt", old_text: "how are you?", new_text: "how do you do?" },
        { type: "shell", command: "cat letter.txt" },
      ],
      results: [
        {
          type: "edit_file",
          text: "Replaced 1 occurrence in /home/agent/letter.txt, at line 2:\nDear Ada,\nhow do you do?",
          truncated: false,
          path: "/home/agent/letter.txt",
          replacements: 1,
        },
        said("Dear Ada,\nhow do you do?", { exit_code: 0 }),
      ],
      decision: {
        model: "m-1",
        prompt_token_ids: [1, 2, 3, 10, 11, 20],
        token_ids: [12],
        logprobs: [-1],
        usage: { prompt_tokens: 6, completion_tokens: 1, total_tokens: 7, cached: true },
      },
    }),
    ...stepEvents(3, {
      actions: [{ type: "done", answer: "Ada" }],
      results: [{ type: "done", text: "The task was ended as done.", truncated: false }],
      decision: {
        model: "m-1",
        prompt_token_ids: [1, 2, 3, 10, 11, 20, 12, 21, 22],
        token_ids: [13],
        logprobs: [-0.125],
      },
      terminated: true,
    }),
    verdictEvent(3, { status: "graded", score: 0.75, passed: false }),
  ],
};

/** Goes on from `parent` after its first step; the model cut its context before the last step. Passed. */
export function lettersBranch(parent: { episode: string; file: string }): Example {
  return {
    task: "letters",
    session: {
      parent: { ...parent, step: 1 },
      labels: { run: "r1", group: "g1", replica: 1 },
    },
    events: [
      {
        channel: "snapshot",
        step: 1,
        payload: { digest: "state-1", instructions: 100, guest_ms: 10, pages: null },
      },
      ...stepEvents(2, {
        actions: [{ type: "shell", command: "echo Yours >> letter.txt" }],
        results: [said("")],
        decision: { model: "m-2", prompt_token_ids: [1, 2, 3], token_ids: [30, 31], logprobs: [-0.5, -0.5] },
        reward: 2,
        milestones: [{ check: "signed", reward: 2 }],
      }),
      ...stepEvents(3, {
        actions: [{ type: "done" }],
        results: [{ type: "done", text: "The task was ended as done.", truncated: false }],
        decision: { model: "m-2", prompt_token_ids: [1, 40], token_ids: [41] },
        terminated: true,
      }),
      verdictEvent(3, { status: "graded", score: 1, passed: true }),
    ],
  };
}

/** The machine died: ungraded, whatever was paid before. */
export const died: Example = {
  task: "letters",
  session: { labels: { run: "r1", group: "g1", replica: 2 } },
  events: [
    start("Write a letter to Ada."),
    ...stepEvents(1, { actions: [{ type: "shell", command: "true" }], results: [said("")], reward: 1 }),
    { channel: "infra", step: 1, payload: { code: "machine_died", message: "its kernel panicked" } },
    verdictEvent(1, { status: "ungraded", score: null, passed: null, reason: "the machine died" }),
  ],
};

/** Of a task that is for measuring only, by an operator that tells no tokens. */
export const exam: Example = {
  task: "suite/exam",
  session: { use: "eval", task_version: "2.1.0", labels: { run: "r2" } },
  events: [
    start("How much is 6 times 7?"),
    ...stepEvents(1, {
      actions: [{ type: "done", answer: "42" }],
      results: [{ type: "done", text: "The task was ended as done.", truncated: false }],
      terminated: true,
    }),
    verdictEvent(1, { status: "graded", score: 1, passed: true }, "suite/exam"),
  ],
};
