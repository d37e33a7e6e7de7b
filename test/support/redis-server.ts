/** A Redis of one's own for tests: on a free port of loopback, nothing on disk; it ends with `stop`. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface RedisServer {
  url: string;
  stop(): Promise<void>;
}

/** Why tests on Redis are skipped; null where they run. */
export const withoutRedis: string | null =
  spawnSync("redis-server", ["--version"]).error === undefined
    ? null
    : "redis-server is not installed (scripts/setup.sh test)";

export async function startRedis(): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), "shinken-redis-"));
  for (let attempt = 0; ; attempt += 1) {
    const port = await freePort();
    const words = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
    const child = spawn("redis-server", [...words, "--dir", folder], { stdio: ["ignore", "pipe", "ignore"] });
    const gone = new Promise<void>((resolve) => child.once("close", () => resolve()));
    if (await listens(child)) {
      return {
        url: `redis://127.0.0.1:${port}`,
        async stop() {
          child.kill("SIGKILL");
          await gone;
          rmSync(folder, { recursive: true, force: true });
        },
      };
    }
    // Somebody else may have taken the port meanwhile.
    child.kill("SIGKILL");
    await gone;
    if (attempt === 3) throw new Error("redis-server does not start");
  }
}

function listens(child: ChildProcess): Promise<boolean> {
  return new Promise((resolve) => {
    let said = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes("Ready to accept connections")) resolve(true);
    });
    child.once("close", () => resolve(false));
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
