import { createInterface } from "node:readline";
import { afterEach, describe, expect, it } from "vitest";
import { connect } from "../../src/client/index.js";
import { type CliOptions, cli, finished, startCli } from "../support/cli.js";

const children: ReturnType<typeof startCli>[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

async function serve(words: readonly string[] = [], options: CliOptions = {}) {
  const child = startCli(["serve", "--port", "0", "--json", "--log-level", "silent", ...words], options);
  children.push(child);
  const ended = finished(child);
  const line = await new Promise<string>((resolve) => createInterface(child.stdout).once("line", resolve));
  const { url, pid } = JSON.parse(line) as { url: string; pid: number };
  return { child, ended, url, pid };
}

describe("serve", () => {
  it("says where it listens in its first line, and accepts connections by then", async () => {
    const { url, pid, child } = await serve();
    expect(url).toMatch(/^ws:\/\/127\.0\.0\.1:\d+$/);
    expect(pid).toBe(child.pid);
    const client = await connect(url);
    const session = await client.create({ environment: "echo" });
    await session.reset();
    expect((await session.step([{ type: "echo", text: "hello" }])).observation.results[0]?.text).toBe(
      "hello",
    );
    await client.close();
  });

  it.each(["SIGTERM", "SIGINT"] as const)(
    "drains on %s and exits 0, with a client that stays",
    async (signal) => {
      const { url, child, ended } = await serve(["--drain", "0.3"]);
      const client = await connect(url, { reconnect: false });
      const session = await client.create({ environment: "echo" });
      const notices: unknown[] = [];
      session.onNotice((notice) => notices.push(notice));
      child.kill(signal);
      expect((await ended).code).toBe(0);
      expect(notices).toMatchObject([{ event: "closed", code: "server_draining" }]);
    },
  );

  it("leaves at once when nobody holds a session", async () => {
    const { child, ended } = await serve(["--drain", "600"]);
    child.kill("SIGTERM");
    expect((await ended).code).toBe(0);
  });

  it("ends when the program that started it ends, if asked to", async () => {
    const { child, ended } = await serve(["--stop-with-stdin", "--drain", "0"]);
    child.stdin.end();
    expect((await ended).code).toBe(0);
  });

  it("logs the drain's beginning before its end, also where the host is slow to write", async () => {
    // Keeps the one thread on which Node does what it does not do at once busy while the server drains.
    const busy = `import {pbkdf2} from "node:crypto"; process.on("SIGTERM", () => pbkdf2("", "", 1e6, 64, "sha512", () => {}))`;
    const { child, ended } = await serve(["--log-level", "info"], {
      env: {
        UV_THREADPOOL_SIZE: "1",
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(busy)}`,
      },
    });
    child.kill("SIGTERM");
    const { stderr } = await ended;
    const messages = stderr.split("\n").filter((line) => line.startsWith("{"));
    expect(messages.map((line) => (JSON.parse(line) as { msg: string }).msg).slice(-2)).toEqual([
      "draining",
      "drained",
    ]);
  });

  it("drains although nobody reads its log any more", async () => {
    const { child, ended } = await serve(["--log-level", "info"]);
    child.stderr.destroy();
    child.kill("SIGTERM");
    expect((await ended).code).toBe(0);
  });

  it("exits 3 where the port is taken", async () => {
    const { url } = await serve();
    const { code, stderr } = await cli(["serve", "--port", new URL(url).port]);
    expect(stderr).toContain("cannot listen");
    expect(code).toBe(3);
  });

  it("wants its token from everybody", async () => {
    const token = "0123456789abcdef0123";
    const { url } = await serve([], { env: { SHINKEN_TOKEN: token } });
    await expect(connect(url)).rejects.toMatchObject({ code: "unauthorized" });
    await (await connect(url, { token })).close();
  });

  it("shows metrics and health over HTTP", async () => {
    const { url } = await serve();
    const http = url.replace("ws:", "http:");
    expect(await (await fetch(`${http}/health`)).json()).toMatchObject({ status: "ok" });
    const metrics = await (await fetch(`${http}/metrics`)).text();
    expect(metrics).toContain("shinken_machines 0");
    expect(metrics).toContain("shinken_guest_memory_live_bytes 0");
  });
});

describe("bench wire", () => {
  it.each([
    [["--seconds", "0.2"]],
    // As of the other benchmarks.
    [["--effort", "0.05"]],
  ])(
    "prints steps a second for each number of sessions, with %j",
    async (words) => {
      const { code, stdout } = await cli(["bench", "wire", "--sessions", "1", "4", ...words, "--json"]);
      expect(code).toBe(0);
      const { sessions, recording } = JSON.parse(stdout) as {
        sessions: Record<string, Record<string, number>>;
        recording: { echo: Record<string, number> };
      };
      expect(Object.keys(sessions)).toEqual(["1", "4"]);
      for (const row of Object.values(sessions)) {
        expect(row["steps_per_s"]).toBeGreaterThan(0);
        expect(row["p99_ms"]).toBeGreaterThan(0);
      }
      expect(recording.echo["recorded_steps_per_s"]).toBeGreaterThan(0);
      expect(recording.echo["share"]).toBeGreaterThan(0);
    },
    300_000,
  );
});
