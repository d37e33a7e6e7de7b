/** The bundles of the conformance folder, made by the recorder's own writer with fixed times and ids. */
import { join } from "node:path";
import { Encoder, ExtData } from "@msgpack/msgpack";
import type { Channel, SessionFacts } from "../../../src/replay/format/channels.js";
import { zstdReady } from "../../../src/replay/format/zstd.js";
import { BlobStore } from "../../../src/replay/write/blobs.js";
import { BundleState } from "../../../src/replay/write/bundle-state.js";
import { BundleWriter } from "../../../src/replay/write/bundle-writer.js";

const began = 1_780_000_000_000;
export const runtime = "conformance/1";

export function sessionOf(name: string, more: Partial<SessionFacts> = {}): SessionFacts {
  return {
    skn: 1,
    episode: `00000000-0000-4000-8000-${Buffer.from(name.padEnd(6, "-")).toString("hex").slice(0, 12)}`,
    task: name,
    task_version: "sha256:1",
    verifier: "sha256:2",
    task_set: null,
    variant: "sha256:3",
    params: { lines: 40 },
    seed: 7,
    image: "sha256:4",
    golden: "sha256:5",
    machine_abi: 5,
    provider: "microvm",
    memory: "flat",
    fork: { kind: "replica", seed: "0f".repeat(32), clock: { seconds: 1_780_000_000, nanoseconds: 5 } },
    parent: null,
    labels: { run: "r1", replica: 3, greedy: true },
    runtime,
    host: { platform: "linux" },
    ...more,
  };
}

/** Says what happened, in order; numbers and times are made up as it goes. */
export class Script {
  readonly #state: BundleState;
  #wall = began;
  #guest = 0;
  step = 0;

  constructor(state: BundleState) {
    this.#state = state;
  }

  event(
    channel: Channel,
    payload: Record<string, unknown>,
    at: { step?: number; action?: string } = {},
  ): this {
    this.#wall += 13;
    this.#guest += 2.5;
    this.#state.add([1, channel, at.step ?? this.step, this.#guest, this.#wall, at.action, payload]);
    return this;
  }

  reset(instruction: string, info: Record<string, unknown> = {}): this {
    return this.#answer({ instruction, results: [] }, info);
  }

  ask(...actions: Record<string, unknown>[]): this {
    for (const [index, action] of actions.entries())
      this.event("action", { action }, { step: this.step + 1, action: `${this.step + 1}.${index}` });
    return this;
  }

  answer(results: Record<string, unknown>[], info: Record<string, unknown> = {}): this {
    this.step += 1;
    return this.#answer({ results }, info);
  }

  /** The next events are in another chunk. */
  flush(): this {
    this.#state.flush();
    return this;
  }

  #answer(observation: Record<string, unknown>, info: Record<string, unknown>): this {
    this.event("observation", { observation, terminated: false, truncated: false, info });
    const digest = `sha256:state-${this.step}`;
    this.event("snapshot", { digest, instructions: 1_000 * this.step, guest_ms: this.#guest, pages: null });
    return this.flush();
  }
}

const exec = (command: string): Record<string, unknown> => ({ type: "exec", command });
const output = (text: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  type: "exec",
  ok: true,
  exit_code: 0,
  text,
  ...more,
});

const verdict = (status: "graded" | "ungraded", score: number | null): Record<string, unknown> => ({
  verdict: { status, score, passed: status === "graded" ? score === 1 : null, checks: [] },
  verifier: "sha256:2",
  ms: 1.25,
});

/** A long text with characters outside the basic plane, the same for the same numbers. */
function text(lines: number, from = 0): string {
  return Array.from({ length: lines }, (_, at) => `${from + at}: grüße, 世界 🌍🌎\n`).join("");
}

const high = "\ud83c";
const low = "\udf0d";

export const recorded: Record<
  string,
  { session?: Partial<SessionFacts>; secrets?: string[]; play: (script: Script) => void }
> = {
  graded: {
    play: (script) =>
      script
        .reset("Sort the files.", { ready_ms: 1.5 })
        .event(
          "decision",
          {
            model: "m",
            input: [{ role: "user", content: "Sort the files." }],
            output: "ls",
            token_ids: [1, 2, 70_000],
            logprobs: [-0.5, -1.25e-7, -3],
            usage: { total: 9 },
          },
          { step: 1 },
        )
        .ask(exec("ls"), exec("pwd"))
        .event("reward", { reward: 0.25, check: "listed" }, { step: 1 })
        .answer([output("a b"), output("/home")], { guest_ms: 12.5 })
        .ask(exec("rm -r /"))
        .event("marker", { kind: "refused", message: "not allowed", code: "capability_denied" }, { step: 2 })
        .ask(exec("sort"))
        .event("marker", { kind: "progress", message: "half" }, { step: 2 })
        .answer([output("sorted")])
        .event("reward", { reward: 0.75, check: null })
        .event("permission", { asked: "network", granted: false, by: "policy" })
        .event("infra", { code: "machine_timeout", message: "slow" })
        .event("verdict", verdict("graded", 0.5))
        .event("verdict", verdict("graded", 1)),
  },
  deltas: {
    play: (script) => {
      script.reset("Look at long texts.");
      script.ask(exec("cat")).answer([output(text(40))]);
      // A change between surrogates that share their first half: 🌍 and 🌎 differ in the second.
      script.ask(exec("cat")).answer([output(text(40).replace("20: grüße, 世界 🌍", "20: grüße, 世界 🌎"))]);
      script.ask(exec("cat")).answer([output(text(41)), output(text(40, 7))]);
      script.ask(exec("cat")).answer([output(text(30)), output(text(41, 7)), output("short")]);
      // Gone for one observation: written out again after that.
      script.ask(exec("cat")).answer([output("short")]);
      script.ask(exec("cat")).answer([output(text(30)), output(`\ufeff${text(30)}`)]);
      script.ask(exec("cat")).answer([output(`${text(30)}!`), output(`\ufeff${text(31)}`)]);
      const fields = { "a/b": text(20), a: { b: text(21) }, "~": text(22), "": text(23) };
      script.ask(exec("cat")).answer([output("", { fields })]);
      const changed = { "a/b": text(21), a: { b: text(20) }, "~": text(23), "": text(22) };
      script.ask(exec("cat")).answer([output("", { fields: changed })]);
      for (let at = 0; at < 40; at += 1) script.ask(exec("cat")).answer([output(text(20 + at))]);
    },
  },
  surrogates: {
    play: (script) =>
      script
        .reset(`cut ${high}`)
        .ask({ ...exec("cat"), [`name ${low}`]: `${low}${high}` })
        .answer([output(`${text(20)}${high}`)])
        .ask(exec("cat"))
        .answer([output(`${text(20)}${high}${low}${text(2)}`)])
        .ask(exec("cat"))
        .answer([output(`${high}${text(900)}`)]),
  },
  blobs: {
    play: (script) => {
      const picture = Uint8Array.from({ length: 20_000 }, (_, at) => (at * at) >> 3);
      script.reset(text(1_000));
      script.ask({ type: "write_file", path: "a", content: text(900) }).answer([output("ok")]);
      script.ask(exec("cat a")).answer([output(text(900)), { type: "screenshot", ok: true, data: picture }]);
      script.ask(exec("cat a")).answer([output(text(901)), { type: "screenshot", ok: true, data: picture }]);
      script.ask(exec("look")).answer([{ type: "screenshot", ok: true, data: picture.subarray(0, 10) }]);
      const pages = { delta: picture.subarray(0, 17_000) };
      script.event("snapshot", { digest: "sha256:end", instructions: 9_000, guest_ms: 90, pages });
    },
  },
  values: {
    session: {
      params: JSON.parse(
        '{"__proto__": {"polluted": true}, "constructor": 1, "2": 1, "1": 2}',
      ) as object as Record<string, unknown>,
    },
    play: (script) =>
      script.reset("Every kind of value.").ask({
        type: "values",
        numbers: [
          0,
          -1,
          127,
          128,
          255,
          256,
          65_535,
          65_536,
          2 ** 32 - 1,
          2 ** 32,
          2 ** 53 - 1,
          -32,
          -33,
          -128,
          -129,
        ],
        more: [-32_768, -32_769, -(2 ** 31), -(2 ** 31) - 1, -(2 ** 53) + 1, 0.5, 1e300, -1e-300, 2 ** 60],
        odd: [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
        others: [null, true, false, "", [], {}, new Uint8Array(0), new Uint8Array([0, 255])],
        lengths: [31, 32, 255, 256].map((length) => "x".repeat(length)),
        list: Array.from({ length: 300 }, (_, at) => at),
      }),
  },
  redacted: {
    secrets: ["hunter2-hunter2"],
    play: (script) =>
      script
        .reset("Log in.")
        .ask({
          type: "exec",
          command: "login hunter2-hunter2",
          "a/b~c": ["hunter2-hunter2"],
          password: "other-secret",
        })
        .answer([output("welcome")]),
  },
  branch: {
    session: {
      fork: { kind: "branch", seed: "ab".repeat(32), clock: null },
      parent: { episode: "00000000-0000-4000-8000-000000000001", step: 2, file: "graded/x.skn" },
    },
    play: (script) => {
      script.step = 2;
      script
        .event("snapshot", { digest: "sha256:state-2", instructions: 9, guest_ms: 4, pages: null })
        .ask(exec("sort -r"))
        .answer([output("other")]);
    },
  },
  ungraded: {
    play: (script) =>
      script
        .reset("Break.")
        .ask(exec("halt"))
        .event("marker", { kind: "failed", message: "it died", code: "machine_died" }, { step: 1 })
        .event("verdict", verdict("ungraded", null)),
  },
  session: { play: () => undefined },
};

/** Makes all of them in the folder's `bundles`, and their blobs. */
export async function makeBundles(folder: string): Promise<void> {
  await zstdReady;
  const blobs = new BlobStore(folder);
  for (const [name, { session, secrets, play }] of Object.entries(recorded)) {
    const state = new BundleState(
      {
        kind: "open",
        id: 1,
        session: 1,
        folder,
        file: `bundles/${name}.skn`,
        runtime,
        secrets: { values: secrets ?? [], variables: [] },
      },
      blobs,
    );
    const script = new Script(state);
    script.event("session", sessionOf(name, session));
    play(script);
    await state.finish();
  }
  await makeForeign(join(folder, "bundles", "foreign.skn"));
  const empty = BundleWriter.create(join(folder, "bundles", "empty.skn"), runtime);
  await empty.finish();
}

/** Channels and fields of other programs, and of later ones of ours. */
async function makeForeign(path: string): Promise<void> {
  const writer = BundleWriter.create(path, runtime);
  const encode = (value: unknown): Uint8Array => new Encoder().encode(value);
  const at = (seq: number): { seq: number; step: number; t_guest: null; t_wall: number } => ({
    seq,
    step: 0,
    t_guest: null,
    t_wall: began + seq,
  });
  const metadata = new Map([["made by", "somebody"]]);
  const schema = { name: "their.Thing", encoding: "jsonschema", data: Buffer.from("{}") };
  const theirs = { topic: "/their/thing", schema, messageEncoding: "msgpack", metadata };
  writer.addForeign({ ...theirs, topic: "/before", schema: null }, 0, began, encode({ seq: 0 }));
  writer.add("session", { ...at(0), ...sessionOf("foreign"), later: { field: [1, 2] } });
  writer.addForeign(theirs, 7, began + 1, encode({ seq: 1, mine: new Uint8Array([1, 2, 3]) }));
  writer.addForeign(
    { ...theirs, topic: "/json", messageEncoding: "json" },
    8,
    began + 2,
    Buffer.from('{"a":1}'),
  );
  writer.addForeign(
    { ...theirs, topic: "/odd" },
    9,
    began + 3,
    Buffer.from([0x81, 0x01, 0xcf, 255, 255, 255, 255, 255, 255, 255, 255]),
  );
  writer.add("marker", { ...at(1), kind: "started", nested: { later: new ExtData(9, new Uint8Array([4])) } });
  const ours = {
    topic: "thought",
    schema: { ...schema, name: "skn.thought" },
    messageEncoding: "msgpack",
    metadata: new Map(),
  };
  writer.addForeign(ours, 2, began + 4, encode({ ...at(2), thought: "later" }));
  writer.closeChunk();
  writer.add("marker", { ...at(3), kind: "ended", message: "done" });
  await writer.finish();
}
