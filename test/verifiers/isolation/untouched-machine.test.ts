/** A property of all grading: whatever the graph asks, and whatever it breaks in its forks, the agent's machine stays the same to the bit. */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TaskEnvironmentFactory } from "../../../src/env/factory.js";
import { makeTask } from "../../../src/env/task/index.js";
import type { Golden, Sandbox } from "../../../src/sandbox/sandbox.js";
import { OpenAiJudge } from "../../../src/verifiers/judge/openai.js";
import { channelNames, channelsOf, closePool, type JudgeModel } from "../../../src/verifiers/index.js";
import { isControl, type JudgeServer, openJudgeServer, replyOf } from "../../support/judge-server.js";
import { machinesUnavailable, providerForFile, TEST_IMAGE } from "../../support/machine.js";
import { timeless } from "../support.js";
import { gradeOn, run } from "./support.js";

const unavailable = await machinesUnavailable();
const provider = providerForFile();
afterAll(() => closePool());

const FILE = "/home/agent/file";
const json = { type: "json", exists: true };
const list = { type: "list", contains: ["x"] };
const words = { type: "text", contains: "x" };
const number = { type: "number", equals: 1 };
const table = { type: "table", row_count: { equals: 1 } };
const HAVOC = [
  "/bin/sh",
  "-c",
  "rm -rf /home/agent/* /mnt/etc /mnt/usr/bin/python3; pkill -9 -v -f shinken; echo 1",
];

/** Questions of every channel that the image offers, by the channel's name. */
const queries: Record<string, [object, object, object?][]> = {
  fs: [
    [{ kind: "text", path: FILE }, words],
    [
      { kind: "file", path: FILE },
      { type: "file", exists: true },
    ],
    [{ kind: "hash", path: FILE }, words],
    [{ kind: "manifest", path: "/home/agent/repo" }, json],
    [
      { kind: "glob", pattern: "/home/**/*" },
      { type: "list", contains: ["/x"] },
    ],
    [{ kind: "tree", path: "/etc" }, list],
  ],
  process: [[{ kind: "table" }, table]],
  sqlite: [[{ kind: "number", path: "/home/agent/db", sql: "SELECT n FROM t" }, number]],
  config: [[{ kind: "yaml", path: FILE }, json]],
  archive: [[{ kind: "entries", path: FILE }, list]],
  office: [[{ kind: "text", path: FILE }, words]],
  pdf: [[{ kind: "text", path: FILE }, words]],
  html: [[{ kind: "count", path: FILE, selector: "p" }, number]],
  xml: [[{ kind: "count", path: FILE, selector: "p" }, number]],
  image: [[{ kind: "info", path: FILE }, json]],
  media: [[{ kind: "info", path: FILE }, json]],
  mbox: [[{ kind: "count", path: FILE }, number]],
  git: [
    [{ kind: "log", path: "/home/agent/repo" }, table],
    [{ kind: "status", path: "/home/agent/repo" }, table],
  ],
  http: [[{ kind: "text", port: 8080, path: "/file" }, words]],
  module: [[{ module: "git", ask: "status", args: { path: "/home/agent/repo" } }, json]],
  "exec-json": [
    [{ argv: ["/bin/echo", "1"] }, json],
    [{ argv: HAVOC }, json, { mutates: true }],
    [{ argv: ["/usr/bin/python3", { asset: "ask.py" }] }, json],
  ],
  episode: [[{ kind: "answer" }, words]],
};

const assets = {
  "ask.py": "import os\nopen('/home/agent/file', 'w').write('x' * 100_000)\nprint(1)\n",
  "grade.js": `export default async (machine) => {
    const seen = await machine.text("${FILE}");
    await machine.read("exec-json", { argv: ["/bin/sh", "-c", "rm -rf /home/agent; echo 1"] });
    return { score: seen === null ? 0 : 1, evidence: String(await machine.text("${FILE}")) };
  };`,
};
const judge = {
  criteria: [{ id: "kind", ask: "The file is kind." }],
  evidence: [{ name: "file", channel: "fs", query: { kind: "text", path: FILE } }],
  tools: ["fs"],
};
/** Makers of nodes, by what they ask. */
const makers: ((id: string) => object)[] = [
  ...Object.entries(queries).flatMap(([channel, asked]) =>
    asked.map(([query, assert, more]) => (id: string): object => ({ id, channel, query, assert, ...more })),
  ),
  (id) => ({ id, code: { module: "grade.js", channels: ["fs", "exec-json"] } }),
  (id) => ({ id, judge }),
];

describe.skipIf(unavailable !== null)("the agent's machine", () => {
  let golden: Golden;
  let box: Sandbox;
  let server: JudgeServer;
  let model: JudgeModel;
  beforeAll(async () => {
    server = await openJudgeServer((asked, count) =>
      count % 2 === 0 && asked.tools !== undefined && asked.messages.length === 2
        ? { tools: [{ name: "fs", arguments: JSON.stringify({ kind: "glob", pattern: "/etc/*" }) }] }
        : replyOf(asked, (one) => (isControl(one) ? false : "some words")),
    );
    model = new OpenAiJudge({ url: server.url, model: "judge", key: "secret" });
    golden = await provider().imageGolden(TEST_IMAGE);
    box = await golden.fork({ seed: new Uint8Array(32) });
    await box.writeFile(FILE, "some words\n");
    await run(
      box,
      `git init -q repo && cd repo && git config user.name A && git config user.email a@b.c && echo 1 > one && git add . && git commit -qm one
      cd .. && sqlite3 db 'CREATE TABLE t(n); INSERT INTO t VALUES (1)'
      setsid python3 -m http.server 8080 --bind 127.0.0.1 > /dev/null 2>&1 & sleep 2`,
    );
  });
  afterAll(async () => {
    await server.close();
    await box.close();
    golden.close();
  });

  it("is asked by every channel that its image offers", () => {
    expect(Object.keys(queries).sort()).toEqual(
      channelNames.filter((name) => channelsOf(TEST_IMAGE).includes(name)).sort(),
    );
  });

  it("is the same to the bit before and after any graph, and no fork stays open", async () => {
    const before = await box.digest();
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(makers, { minLength: 6, maxLength: 12 }), async (chosen) => {
        const weighted = chosen.map((make, index) => make(`node-${index}`));
        const verdict = await gradeOn(box, { weighted }, assets, { judge: model });
        expect(await box.digest()).toBe(before);
        expect(provider().openMachines()).toBe(1);
        expect(verdict.checks).toHaveLength(chosen.length);
      }),
      { numRuns: 4 },
    );
  });

  it("gives the same verdict to the byte when all of it is asked twice, in whatever its commands destroyed", async () => {
    const weighted = makers.map((make, index) => make(`node-${index}`));
    const verdict = await gradeOn(box, { weighted }, assets, { judge: model });
    const harness = verdict.checks.filter(
      ({ status, evidence }) => status === "ungraded" && /^(timeout|grader_error|internal)/.test(evidence),
    );
    expect(harness).toEqual([]);
    expect(timeless(await gradeOn(box, { weighted }, assets, { judge: model }))).toEqual(timeless(verdict));
  });

  it("is never other than that of an episode that nobody graded: milestones, verify.prepare and verdicts leave nothing", async () => {
    const task = (more: object) =>
      makeTask({
        id: "prepared",
        version: "1.0.0",
        instruction: "Write a file.",
        oracle: [{ type: "exec", command: "echo 1 > one" }],
        verify: {
          ...more,
          graph: {
            all: [
              {
                id: "one",
                channel: "fs",
                query: { kind: "text", path: "/home/agent/one" },
                assert: { type: "text", equals: "1\n" },
                milestone: true,
              },
              { id: "ruin", channel: "exec-json", query: { argv: HAVOC }, assert: json, mutates: true },
            ],
          },
        },
      });
    const prepare = [{ exec: { argv: ["sh", "-c", "rm -rf /home/agent/*; echo 2 > /home/agent/one"] } }];
    const digests = async (graded: boolean): Promise<unknown[]> => {
      const factory = new TaskEnvironmentFactory({
        provider: provider(),
        tasks: [task(graded ? { prepare } : {})],
      });
      const session = await factory.create("prepared", { checkpoints: {} });
      await session.reset({ seed: 1 });
      const seen: unknown[] = [];
      for (const text of ["echo 1 > one", "sleep 1; date +%N; ls"]) {
        const { info } = await session.step([{ type: "exec", command: text }]);
        seen.push((info["checkpoint"] as { digest: string }).digest);
        if (graded) expect((await session.evaluate()).status).toBe("graded");
      }
      await session.close();
      factory.close();
      return seen;
    };
    expect(await digests(true)).toEqual(await digests(false));
  });
});
