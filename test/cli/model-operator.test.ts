import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { bundleFiles, type Bundle, readBundle } from "../../src/replay/index.js";
import { cli, root } from "../support/cli.js";
import { machinesUnavailable } from "../support/machine.js";
import {
  type Asked,
  type AskedMessage,
  type Completed,
  type ModelServer,
  openModelServer,
  type Said,
} from "../support/model-server.js";

const unavailable = await machinesUnavailable();
const key = "sk-never-to-be-seen-0123456789";
const env = { OPENAI_API_KEY: key, SHINKEN_TOKEN: "" };

/** Bytes as tokens, under a chat template that only appends. */
const bodyOf = ({ content, tool_calls }: Pick<AskedMessage, "content" | "tool_calls">): number[] => [
  ...Buffer.from((content ?? "") + JSON.stringify(tool_calls ?? [])),
  256,
];
const roles = ["system", "user", "assistant", "tool"];
const promptOf = (messages: readonly AskedMessage[]): number[] => [
  ...messages.flatMap((message) => [257 + roles.indexOf(message.role), ...bodyOf(message)]),
  257 + roles.indexOf("assistant"),
];

/** A reply with what vLLM tells of its tokens. */
function tokenized(said: Completed, { messages }: Asked): Completed {
  const calls = (said.calls ?? []).map(({ name, arguments: given }, at) => ({
    id: `call-${at}`,
    type: "function",
    function: { name, arguments: given },
  }));
  const ids = bodyOf({ content: said.content ?? null, ...(calls.length === 0 ? {} : { tool_calls: calls }) });
  const promptIds = promptOf(messages);
  return {
    ...said,
    promptIds,
    ids,
    logprobs: ids.map((id) => -id / 1_024),
    usage: { prompt_tokens: promptIds.length, completion_tokens: ids.length },
  };
}

/** The whole of the model: it finds its tools by their schemas, looks, works, and ends. */
function solve(asked: Asked): Completed {
  const tools = (asked.tools ?? []).map((tool) => tool.function);
  const runs = tools.find(({ parameters }) => "command" in (parameters["properties"] as object))?.name ?? "";
  const ends = tools.find(({ description }) => /as finished/.test(description))?.name ?? "";
  const run = (command: string) => ({ name: runs, arguments: JSON.stringify({ command }) });
  const [, days = "", keep = ""] =
    /more\s+than (\d+) days[\s\S]*name ends in "\.(\w+)"/.exec(asked.messages[1]?.content ?? "") ?? [];
  switch (asked.messages.filter(({ role }) => role === "assistant").length) {
    case 0:
      return { content: "I look.", calls: [run("cat ~/cache/KEEP"), run("ls ~/cache | wc -l")] };
    case 1:
      return { calls: [{ name: "bash", arguments: "{}" }] };
    case 2:
      return {
        reasoning_content: "Names may begin with a hyphen.",
        calls: [
          run(`cd ~/cache; limit=$((1718409600 - ${days} * 86400)); n=0; b=0
find . -type f -printf '%T@ %s %P\\n' > /tmp/all
while read -r t s p; do
  [ "\${t%.*}" -lt "$limit" ] || continue
  case "$p" in *.${keep}|KEEP) continue;; esac
  grep -v '^#' KEEP | grep -qxF -- "$p" && continue
  rm -- "./$p"; n=$((n + 1)); b=$((b + s))
done < /tmp/all
printf '{"deleted": %d, "bytes": %d}' "$n" "$b" > ~/cleanup.json`),
        ],
      };
    default:
      return { calls: [{ name: ends, arguments: "{}" }] };
  }
}

describe.skipIf(unavailable !== null)("a model named on the command line", () => {
  const folder = mkdtempSync(join(tmpdir(), "shinken-model-"));
  const tasks = join(folder, "tasks");
  const runs = join(folder, "runs");
  const servers: ModelServer[] = [];
  const serve = async (say: (asked: Asked) => Said): Promise<ModelServer> => {
    const server = await openModelServer(say);
    servers.push(server);
    return server;
  };
  beforeAll(() => {
    cpSync(join(root, "tasks", "demo", "clean-cache"), join(tasks, "clean-cache"), { recursive: true });
  });
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  let bundle: Bundle;

  it("plays a demo task on a real machine to a verdict that passes", async () => {
    const server = await serve((asked) => tokenized(solve(asked), asked));
    const words = [
      "--operator",
      "openai:script",
      "--base-url",
      server.url,
      "--token-ids",
      "--model-seed",
      "5",
    ];
    const { code, stdout, stderr } = await cli(
      ["eval", tasks, ...words, "--replicas", "1", "--record", runs, "--json"],
      { env },
    );
    expect([code, stderr.includes(key), stdout.includes(key)]).toEqual([0, false, false]);
    const { episodes } = JSON.parse(stdout) as { episodes: Record<string, unknown>[] };
    expect(episodes[0]).toMatchObject({
      status: "graded",
      score: 1,
      steps: 3,
      account: { stopped: "done", requests: 4, malformed: 1, served: "script-2026" },
    });
    expect(server.asked.map(({ authorization }) => authorization)).toEqual(Array(4).fill(`Bearer ${key}`));
    expect(server.asked[0]).toMatchObject({ logprobs: true, return_token_ids: true, temperature: 1 });
  });

  it("leaves in the bundle what it read and wrote, token by token, and never the key", async () => {
    const [file = ""] = await bundleFiles([runs]);
    expect(readFileSync(file).includes(key)).toBe(false);
    bundle = await readBundle(file);
    const decisions = bundle.steps.map(({ decisions: [one] }) => one);
    expect(decisions).toHaveLength(3);
    expect(decisions[0]).toMatchObject({
      model: "script-2026",
      scaffold: "shell-1",
      dialect: "tools",
      finish_reason: "tool_calls",
      system_fingerprint: "fp_1",
      output: { role: "assistant", content: "I look." },
    });
    expect(decisions[1]).toMatchObject({
      output: { reasoning_content: "Names may begin with a hyphen." },
      attempts: [{ fault: expect.stringContaining('no tool "bash"') as string }],
    });
    for (const one of decisions) {
      expect(one?.prompt_token_ids).toEqual(promptOf(one?.input as AskedMessage[]));
      expect(one?.logprobs).toHaveLength(one?.token_ids?.length ?? -1);
      expect(one?.usage).toMatchObject({ completion_tokens: one?.token_ids?.length });
    }
    expect(JSON.stringify(bundle).includes(key)).toBe(false);
  });

  it("is exported as one attempt in which all that it wrote counts, the reply that was no step too", async () => {
    const to = join(folder, "attempts.jsonl");
    const { code } = await cli(["replay", "export", runs, "--format", "trl", "--include-eval", "--to", to]);
    expect(code).toBe(0);
    const rows = readFileSync(to, "utf8").trim().split("\n");
    expect(rows).toHaveLength(1);
    const row = JSON.parse(rows[0] ?? "") as {
      prompt: AskedMessage[];
      completion: AskedMessage[];
      prompt_ids: number[];
      completion_ids: number[];
      logprobs: number[];
      env_mask: number[];
      reward: number;
      segments: number;
    };
    expect(row).toMatchObject({ reward: 1, segments: 1, operator: "openai:script", model: "script-2026" });
    expect(row.prompt.map(({ role }) => role)).toEqual(["system", "user"]);
    expect(row.completion.map(({ role }) => role)).toEqual([
      "assistant",
      "tool",
      "tool",
      "assistant",
      "tool",
      "assistant",
      "tool",
      "assistant",
    ]);
    expect(row.prompt_ids).toEqual(promptOf(row.prompt));
    const written = row.completion.filter(({ role }) => role === "assistant");
    const ids = row.completion_ids.filter((_, at) => row.env_mask[at] === 1);
    expect(ids).toEqual(written.flatMap((message) => bodyOf(message)));
    expect(row.logprobs.filter((_, at) => row.env_mask[at] === 1)).toEqual(ids.map((id) => -id / 1_024));
    const chat = join(folder, "chat.jsonl");
    await cli(["replay", "export", runs, "--format", "sft", "--include-eval", "--to", chat]);
    expect(JSON.parse(readFileSync(chat, "utf8")) as unknown).toMatchObject({ source: "recorded" });
  });

  it("goes on from a recorded step with the recorded messages, and is not asked again for what was decided", async () => {
    const server = await serve(solve);
    const words = ["--operator", "openai:script", "--base-url", server.url, "--tasks", tasks];
    const { code, stdout } = await cli(
      ["replay", "branch", bundle.file, "--at", "2", ...words, "--record", runs, "--json"],
      { env },
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ status: "graded", score: 1, steps: 1 });
    expect(server.asked).toHaveLength(1);
    const [last] = bundle.steps.slice(-1);
    expect(server.asked[0]?.messages).toEqual(last?.decisions[0]?.input);
  });

  it("without a key, or with a setting that is wrong, is a usage error that says what to do", async () => {
    const none = await cli(["eval", tasks, "--operator", "openai:script"], { env: { OPENAI_API_KEY: "" } });
    expect([none.code, none.stderr]).toEqual([
      2,
      expect.stringContaining("OPENAI_API_KEY is not set") as string,
    ]);
    const hot = await cli(["eval", tasks, "--operator", "openai:script", "--temperature", "3"]);
    expect([hot.code, hot.stderr]).toEqual([
      2,
      expect.stringContaining("must be 0 to 2, or unset") as string,
    ]);
    const broke = ["--base-url", "http://127.0.0.1:1/v1", "--max-dollars", "1"];
    const poor = await cli(["eval", tasks, "--operator", "openai:script", ...broke]);
    expect([poor.code, poor.stderr]).toEqual([2, expect.stringContaining("needs a price") as string]);
  });

  it("whose endpoint refuses leaves the episode ungraded", async () => {
    const server = await serve(() => ({ status: 401, error: { message: `wrong key ${key}` } }));
    const words = ["--operator", "openai:script", "--base-url", server.url, "--replicas", "1", "--json"];
    const { code, stdout, stderr } = await cli(["eval", tasks, ...words], { env });
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ episodes: [{ status: "ungraded", score: null }] });
    expect(stdout).toContain("wrong key [secret]");
    expect(stdout + stderr).not.toContain(key);
  });
});
