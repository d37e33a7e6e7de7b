import { type ChildProcess } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { connect } from "../../../src/client/index.js";
import { cli, startCli } from "../../support/cli.js";
import { againstIndex, say, scratch } from "../support/recording.js";

const children = new Set<ChildProcess>();
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  children.clear();
});

describe("serve", () => {
  it("records into the state folder by default, and shows what became of it in its metrics", async () => {
    const state = scratch();
    mkdirSync(state, { recursive: true });
    const server = startCli(["serve", "--port", "0", "--json", "--log-level", "silent"], {
      env: { SHINKEN_STATE: state },
    });
    children.add(server);
    const url = await new Promise<string>((resolve) => {
      server.stdout.once("data", (text: Buffer) => {
        resolve((JSON.parse(text.toString()) as { url: string }).url);
      });
    });
    const client = await connect(url);
    for (let each = 0; each < 2; each += 1) {
      const session = await client.create({ environment: "echo" });
      await session.reset();
      await session.step([say("a")]);
      if (each === 0) await session.close();
    }
    const metrics = await (await fetch(`${url.replace("ws:", "http:")}/metrics`)).text();
    for (const line of [
      "shinken_bundles_open 1",
      'shinken_bundles_total{outcome="finished"} 1',
      'shinken_bundles_total{outcome="failed"} 0',
    ])
      expect(metrics).toContain(line);
    expect(metrics).toMatch(/shinken_bundle_bytes_total [1-9]/);
    expect(metrics).toMatch(/shinken_recorder_queued \d/);
    await client.close();
    server.kill("SIGTERM");
    await new Promise((resolve) => server.once("close", resolve));
    const folder = join(state, "replays");
    expect((await againstIndex(folder)).equal).toBe(2);
  });

  it("takes a budget for the default folder only", async () => {
    const { code, stderr } = await cli([
      "serve",
      "--port",
      "0",
      "--record",
      scratch(),
      "--record-budget",
      "10",
    ]);
    expect(code).toBe(2);
    expect(stderr).toContain("--record-budget");
  });
});
