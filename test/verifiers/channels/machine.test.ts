/** The channels that depend on what a real guest does: git's own files, and a service in a thawed fork. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Golden, Sandbox } from "../../../src/sandbox/sandbox.js";
import { TaskEnvironmentFactory } from "../../../src/env/factory.js";
import { makeTask } from "../../../src/env/task/index.js";
import { closePool, evaluateGraph, type Verdict } from "../../../src/verifiers/index.js";
import { machinesUnavailable, providerForFile, TEST_IMAGE } from "../../support/machine.js";
import { graphOf, silent, timeless } from "../support.js";

const unavailable = await machinesUnavailable();
const provider = providerForFile();
afterAll(() => closePool());

const SERVICE = `
import http.server, json, time
class Handler(http.server.BaseHTTPRequestHandler):
    count = 0
    def answer(self, status, body, kind="text/plain"):
        Handler.count += 1
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Set-Cookie", "a=1")
        self.send_header("Set-Cookie", "b=2")
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        if self.path == "/slow":
            time.sleep(1000)
        if self.path == "/count":
            return self.answer(200, json.dumps({"count": Handler.count}).encode(), "application/json")
        if self.path == "/large":
            return self.answer(200, b"x" * 5000)
        if self.path == "/headers":
            return self.answer(200, json.dumps(dict(self.headers.items())).encode(), "application/json")
        if self.path == "/moved":
            self.send_response(302); self.send_header("Location", "/count"); self.end_headers(); return
        self.answer(200 if self.path == "/" else 404, b"hello\\n")
    def do_POST(self):
        if self.path == "/save":
            open("/home/agent/saved", "w").write("count %d" % Handler.count)
        self.answer(201, self.rfile.read(int(self.headers["Content-Length"])))
    def log_message(self, *words): pass
http.server.ThreadingHTTPServer(("127.0.0.1", 8080), Handler).serve_forever()
`;

describe.skipIf(unavailable !== null)("a service in a real machine", () => {
  let golden: Golden;
  let box: Sandbox;
  beforeAll(async () => {
    golden = await provider().imageGolden(TEST_IMAGE);
    box = await golden.fork({ seed: new Uint8Array(32) });
    await box.writeFile("/home/agent/serve.py", SERVICE);
    // What the agent leaves in its own configuration and in PATH has no say.
    await box.writeFile("/home/agent/.curlrc", "proxy = http://127.0.0.1:1\n");
    await box.writeFile("/root/.curlrc", "proxy = http://127.0.0.1:1\n", { user: "root" });
    await box.writeFile("/usr/local/bin/curl", "#!/bin/sh\necho hacked\n", { user: "root", mode: 0o755 });
    await box.writeFile("/usr/bin/curl", "#!/bin/sh\necho hacked\n", { user: "root", mode: 0o755 });
    await box.exec({ argv: ["sh", "-c", "python3 /home/agent/serve.py >/dev/null 2>&1 &"] });
    const up =
      "for n in $(seq 100); do python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 8080))' 2>/dev/null && exit 0; sleep 1; done; exit 1";
    expect((await box.exec({ argv: ["sh", "-c", up] })).exitCode).toBe(0);
  });
  afterAll(async () => {
    await box.close();
    golden.close();
  });
  let forks = 0;
  afterEach(() => {
    forks = 0;
  });

  const grade = (graph: unknown): Promise<Verdict> =>
    evaluateGraph(graphOf(graph), {
      fork: () => {
        forks++;
        return box.fork("grade");
      },
      episode: silent,
    });
  const ask = (id: string, query: object, assert: object, more: object = {}): object => ({
    id,
    channel: "http",
    query: { port: 8080, ...query },
    assert,
    ...more,
  });

  it("answers checks in forks of their own, and never learns of them", async () => {
    const before = await box.digest();
    const graph = {
      all: [
        ask("root", { kind: "text" }, { type: "text", equals: "hello\n" }),
        ask("status", { kind: "status", path: "/none" }, { type: "number", equals: 404 }),
        ask("head", { kind: "status", method: "HEAD" }, { type: "number", equals: 501 }),
        ask("moved", { kind: "status", path: "/moved" }, { type: "number", equals: 302 }),
        ask("first", { kind: "json", path: "/count" }, { type: "json", path: "/count", equals: 0 }),
        ask("again", { kind: "json", path: "/count" }, { type: "json", path: "/count", equals: 0 }),
        ask(
          "posted",
          { kind: "text", method: "POST", body: "ä\0b", expect_status: 201 },
          { type: "text", equals: "ä\0b" },
        ),
        ask(
          "headers",
          { kind: "json", path: "/headers", headers: { "X-One": "a: b", accept: "text/html" } },
          {
            type: "json",
            equals: { Host: "127.0.0.1:8080", "User-Agent": "shinken", "X-One": "a: b", accept: "text/html" },
          },
        ),
        ask("cookies", { kind: "headers" }, { type: "json", path: "/set-cookie", equals: ["a=1", "b=2"] }),
        {
          id: "file",
          channel: "fs",
          query: { kind: "file", path: "/home/agent/serve.py" },
          assert: { type: "file", exists: true },
        },
      ],
    };
    const verdict = await grade(graph);
    expect(
      verdict.checks.map(({ id, status, evidence }) => [id, status, status === "passed" ? "" : evidence]),
    ).toEqual(graph.all.map((check) => [(check as { id: string }).id, "passed", ""]));
    expect(forks).toBe(10);
    expect(timeless(await grade(graph))).toEqual(timeless(verdict));
    expect(await box.digest()).toBe(before);
    expect(provider().openMachines()).toBe(1);
  });

  it("fails a check where nobody listens or the status is another, and is ungraded where it hangs or floods", async () => {
    const any = { type: "text", contains: "x" };
    const verdict = await grade({
      all: [
        ask("nobody", { kind: "text", port: 9 }, any),
        ask("none6", { kind: "text", address: "::1" }, any),
        ask("other", { kind: "text", path: "/none" }, any),
        ask("slow", { kind: "text", path: "/slow", timeout_ms: 2_000 }, any, { on_error: "fail" }),
        ask("large", { kind: "text", path: "/large", max_bytes: 1_000 }, any),
        ask("plain", { kind: "json" }, { type: "json", exists: true }, { on_error: "fail" }),
      ],
    });
    expect(verdict.checks.map(({ id, status, evidence }) => [id, status, evidence])).toEqual([
      ["nobody", "failed", "GET http://127.0.0.1:9/: nobody listens there"],
      ["none6", "failed", "GET http://[::1]:8080/: nobody listens there"],
      ["other", "failed", "GET http://127.0.0.1:8080/none: status 404 instead of 200"],
      ["slow", "ungraded", "timeout: GET http://127.0.0.1:8080/slow: no answer in 2000 ms of guest time"],
      ["large", "ungraded", expect.stringMatching(/max|more than/i)],
      ["plain", "failed", expect.stringContaining("is not JSON")],
    ]);
  });

  it("stands still in a grade fork until it is let go on, and stands still again when told", async () => {
    const fork = await box.fork("grade");
    const argv = ["/usr/bin/curl", "-q", "-s", "--max-time", "5", "http://127.0.0.1:8080/"];
    const get = async () =>
      new TextDecoder().decode((await fork.exec({ argv, user: "root", cleanEnv: true })).stdout);
    expect(await get()).toBe("");
    await fork.workload?.("goes on");
    expect(await get()).toBe("hello\n");
    await fork.workload?.("stands still");
    expect(await get()).toBe("");
    await fork.workload?.("goes on");
    expect(await get()).toBe("hello\n");
    await fork.close();
  });

  it("has git's own repository read without git, though the agent set traps in it", async () => {
    const script = `set -e
      cd /home/agent && git init -q -b main repo && cd repo
      git config user.name Ada && git config user.email ada@example.com
      echo one > a.txt && git add . && git commit -qm "Say one"
      echo two > a.txt && git commit -qam "Say two" && git gc -q
      echo three > a.txt && echo new > b.txt
      git config core.fsmonitor "touch /tmp/trapped" && git config core.pager "touch /tmp/trapped"
      git config filter.x.clean "touch /tmp/trapped" && echo "* filter=x" > .git/info/attributes
      printf '#!/bin/sh\\ntouch /tmp/trapped\\n' > .git/hooks/post-checkout && chmod +x .git/hooks/*
      echo /home/agent/elsewhere > .git/objects/info/alternates`;
    const made = await box.exec({ argv: ["sh", "-c", script] });
    expect(made.exitCode, new TextDecoder().decode(made.stderr)).toBe(0);
    const path = "/home/agent/repo";
    const git = (id: string, query: object, assert: object): object => ({
      id,
      channel: "git",
      query: { path, ...query },
      assert,
    });
    const verdict = await grade({
      all: [
        git(
          "log",
          { kind: "log" },
          {
            type: "table",
            cells: [{ row: 0, column: "subject", equals: "Say two" }],
            row_count: { equals: 2 },
          },
        ),
        git("text", { kind: "text", file: "a.txt", ref: "HEAD~1" }, { type: "text", equals: "one\n" }),
        git(
          "status",
          { kind: "status" },
          {
            type: "table",
            rows: [
              ["a.txt", "", "modified"],
              ["b.txt", "", "untracked"],
            ],
          },
        ),
        git("diff", { kind: "diff" }, { type: "list", equals: ["a.txt"] }),
      ],
    });
    for (const { id, status, evidence } of verdict.checks)
      expect(status, `${id}: ${evidence}`).toBe("passed");
    expect(forks).toBe(1);
    expect(await box.statIfExists("/tmp/trapped")).toBeNull();
  });
});

describe.skipIf(unavailable !== null)("verify.prepare", () => {
  it("can ask an application to save, which nobody but the grader sees", async () => {
    const document = {
      id: "unsaved",
      version: "1.0.0",
      instruction: "Ask the service for something.",
      setup: [
        { write: { path: "/home/agent/serve.py", text: SERVICE } },
        { launch: { argv: ["python3", "/home/agent/serve.py"] } },
      ],
      ready: [{ port: 8080, deadline_s: 120 }],
      verify: {
        prepare: [
          {
            exec: {
              argv: [
                "/usr/bin/curl",
                "-q",
                "-sf",
                "--max-time",
                "20",
                "-d",
                "x",
                "http://127.0.0.1:8080/save",
              ],
            },
          },
        ],
        graph: {
          id: "saved",
          channel: "fs",
          query: { kind: "text", path: "/home/agent/saved" },
          assert: { type: "text", equals: "count 2" },
        },
      },
      oracle: [{ type: "exec", command: "curl -s http://127.0.0.1:8080/ http://127.0.0.1:8080/" }],
    };
    const factory = new TaskEnvironmentFactory({ provider: provider(), tasks: [makeTask(document)] });
    const session = await factory.create("unsaved");
    await session.reset({ seed: 1 });
    expect(await session.evaluate()).toMatchObject({ status: "graded", score: 0 });
    await session.step([{ type: "exec", command: "curl -s http://127.0.0.1:8080/ http://127.0.0.1:8080/" }]);
    const verdict = await session.evaluate();
    expect(verdict, JSON.stringify(verdict)).toMatchObject({ status: "graded", score: 1 });
    const { observation } = await session.step([{ type: "exec", command: "ls /home/agent/saved" }]);
    expect(observation.results[0]?.text).toMatch(/No such file/);
    await session.close();
    factory.close();
  });
});
