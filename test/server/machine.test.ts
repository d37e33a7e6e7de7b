import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect, type ShinkenClient } from "../../src/client/index.js";
import { TaskEnvironmentFactory } from "../../src/env/index.js";
import { makeTask } from "../../src/env/task/index.js";
import { imageNames } from "../../src/images/index.js";
import { engineLoad, guestMemory } from "../../src/sandbox/microvm/addon.js";
import { MicrovmProvider } from "../../src/sandbox/microvm/provider.js";
import type { RunningServer } from "../../src/server/index.js";
import type { MemoryBound } from "../../src/sandbox/host-memory.js";
import { endless } from "../support/endless-grader.js";
import { Peer, start, stopAll, until } from "../support/wire-server.js";

const MiB = 1024 ** 2;
const hasImage = imageNames().some(({ name }) => name === "shell");

describe("a server of real machines without an image", () => {
  const cacheDir = mkdtempSync(join(tmpdir(), "shinken-no-image-"));
  let provider: MicrovmProvider;
  let peer: Peer;

  beforeAll(async () => {
    provider = new MicrovmProvider({ cacheDir });
    const tasks = [makeTask(endless())];
    peer = await Peer.connect(await start({ factory: new TaskEnvironmentFactory({ provider, tasks }) }));
  });
  afterAll(async () => {
    await stopAll();
    await provider.close();
    rmSync(cacheDir, { recursive: true });
  });

  it.each([
    ["shell", "build it: shinken image build shell"],
    ["shel", "did you mean shell?"],
    ["nix", "images that can be built: shell"],
  ])("says so when a sandbox of %s is created, and what to do", async (image, suggestion) => {
    const { ok, error } = await peer.ask({ op: "create", image });
    expect({ ok, error }).toMatchObject({
      ok: false,
      error: { code: "image_missing", path: "image", suggestion, retry: false },
    });
    expect((await peer.ask({ op: "list", what: "sessions" })).result.sessions).toEqual([]);
  });

  it("says so when a task of that image is created", async () => {
    const { ok, error } = await peer.ask({ op: "create", task: "endless" });
    expect({ ok, error }).toMatchObject({
      ok: false,
      error: { code: "image_missing", path: "task", suggestion: "build it: shinken image build shell" },
    });
  });
});

describe.skipIf(!hasImage)("a server of real machines, with the shell image that is in the cache,", () => {
  let provider: MicrovmProvider;
  const host = { usedMiB: 100 };
  let server: RunningServer;
  let client: ShinkenClient;

  beforeAll(async () => {
    const bound = (): MemoryBound => ({
      name: "the host's memory",
      totalBytes: 1000 * MiB,
      availableBytes: (1000 - host.usedMiB) * MiB,
    });
    provider = new MicrovmProvider({ memoryBounds: () => [bound()] });
    const factory = new TaskEnvironmentFactory({ provider, tasks: [] });
    server = await start({
      factory,
      machines: () => provider.openMachines(),
      guestMemory,
      engine: engineLoad,
      refusedForks: () => provider.refusedForks(),
      limits: { graceSeconds: 0.3 },
    });
    client = await connect(server.url);
  });
  afterAll(async () => {
    await client.close();
    await stopAll();
    await provider.close();
  });

  const metricsText = async (): Promise<string> =>
    (await fetch(server.url.replace("ws:", "http:").replace("/v1", "/metrics"))).text();

  it("plays on a plain sandbox, branches it, and frees both machines", async () => {
    const before = provider.openMachines();
    const session = await client.create({ image: "shell" });
    const { info } = await session.reset({ seed: 11 });
    expect(info["ready_ms"]).toBeGreaterThan(0);
    const written = await session.step([
      { type: "write_file", path: "/home/agent/note", content: "shared\n" },
      { type: "exec", argv: ["cat", "/home/agent/note"] },
    ]);
    expect(written.observation.results[1]?.text).toContain("shared");
    const branch = await session.fork();
    await branch.step([{ type: "exec", command: "echo branch >> /home/agent/note" }]);
    const [mine, its] = await Promise.all(
      [session, branch].map((each) => each.step([{ type: "exec", argv: ["wc", "-l", "/home/agent/note"] }])),
    );
    expect(mine?.observation.results[0]?.text).toContain("1 /home/agent/note");
    expect(its?.observation.results[0]?.text).toContain("2 /home/agent/note");
    expect(provider.openMachines()).toBe(before + 2);
    await Promise.all([session.close(), branch.close()]);
    expect(provider.openMachines()).toBe(before);
    const metrics = await metricsText();
    expect(metrics).toContain("shinken_fork_ready_seconds_count 1");
    // The kept golden's pages: in memory where it was booted just now, in a file where it was loaded.
    expect(metrics).toMatch(/^shinken_guest_memory_(live|file)_bytes [1-9]\d{6,}$/m);
    for (const name of ["wait", "run"]) {
      const of = `shinken_engine_${name}_seconds`;
      expect(metrics).toContain(`# TYPE ${of} histogram`);
      const count = new RegExp(`^${of}_count\\{priority="ordinary"\\} ([1-9]\\d*)$`, "m").exec(metrics)?.[1];
      expect(metrics).toContain(`${of}_bucket{priority="ordinary",le="+Inf"} ${count}`);
      expect(metrics).toMatch(new RegExp(`^${of}_sum\\{priority="ordinary"\\} \\S+$`, "m"));
      expect(metrics).toContain(`${of}_count{priority="grade"} `);
    }
    expect(metrics).toMatch(/^shinken_engine_threads [1-9]\d*$/m);
    expect(metrics).toMatch(/^shinken_engine_turns_total [1-9]\d*$/m);
    expect(metrics).toContain('shinken_engine_queued{priority="grade"} 0');
    expect(metrics).toMatch(/^shinken_machine_code_bytes \d+$/m);
  });

  it.each([{ what: "checkpoints" }, { what: "sessions", session: "any" }])(
    "takes a session for a list of checkpoints, and for no other: %j",
    async (fields) => {
      const peer = await Peer.connect(server);
      expect((await peer.ask({ op: "list", ...fields })).error).toMatchObject({
        code: "bad_request",
        path: "session",
      });
    },
  );

  it("keeps checkpoints for a session that asks, and forks it at a step that is long past", async () => {
    const session = await client.create({ image: "shell", checkpoints: { budgetMiB: 8 } });
    const { info } = await session.reset({ seed: 11 });
    const digest = expect.stringMatching(/^[0-9a-f]{32}$/) as string;
    expect(info["checkpoint"]).toMatchObject({ step: 0, digest });
    const line = (command: string) => [{ type: "exec", command }];
    for (const step of [1, 2, 3]) {
      const { info: told } = await session.step(line(`echo ${step} >> /home/agent/note`));
      const pages = (told["checkpoint"] as Record<string, number>)["delta_pages"] ?? 0;
      expect(pages).toBeGreaterThan(0);
      expect(told["checkpoint"]).toEqual({ step, digest, delta_pages: pages, delta_bytes: pages * 4096 });
    }
    const { checkpoints, held_bytes: held, ...counts } = await session.checkpoints();
    expect(checkpoints.map(({ step }) => step)).toEqual([0, 1, 2, 3]);
    expect(checkpoints[3]?.guest_ms).toBeGreaterThan(checkpoints[2]?.guest_ms ?? 0);
    expect(held).toBeGreaterThan(0);
    expect(counts).toEqual({ budget_bytes: 8 * MiB, taken: 4, dropped: 0 });
    const branch = await session.fork({ name: "past", atStep: 1 });
    expect([branch.name, branch.next]).toEqual(["past", 2]);
    const { observation, info: its } = await branch.step(line("cat /home/agent/note"));
    expect(observation.results[0]?.text).toBe("1");
    expect(its["step"]).toBe(2);
    await expect(session.fork({ atStep: 4 })).rejects.toMatchObject({
      code: "checkpoint_missing",
      path: "at_step",
      message: "no checkpoint of step 4 is kept; kept: 0 to 3",
    });
    const metrics = await metricsText();
    // Reset and three steps; the branch's beginning and its step.
    expect(metrics).toContain("shinken_checkpoints 6\n");
    expect(metrics).toContain("shinken_checkpoints_taken_total 6\n");
    expect(metrics).toContain("shinken_checkpoints_dropped_total 0\n");
    expect(metrics).toMatch(/^shinken_checkpoint_bytes [1-9]\d{4,}$/m);
    await session.step([{ type: "done" }]);
    const [over, before] = [await session.fork({ atStep: 4 }), await session.fork({ atStep: 3 })];
    expect((await client.list()).map(({ session: name, state, next }) => [name, state, next])).toEqual([
      [session.name, "over", 5],
      ["past", "running", 3],
      [over.name, "over", 5],
      [before.name, "running", 4],
    ]);
    await Promise.all([session, branch, over, before].map((one) => one.close()));
    expect(await metricsText()).toContain("shinken_checkpoints 0\n");
  });

  it("makes no machine while the host has no memory for it, and plays on with those that it has", async () => {
    const session = await client.create({ image: "shell" });
    await session.reset();
    host.usedMiB = 990;
    // Until the host is looked at again.
    await new Promise((resolve) => setTimeout(resolve, 60));
    const other = await client.create({ image: "shell" });
    const refused = { code: "out_of_memory", retry: true };
    await expect(other.reset()).rejects.toMatchObject(refused);
    await expect(session.fork()).rejects.toMatchObject(refused);
    await session.step([{ type: "exec", argv: ["true"] }]);
    const metrics = await metricsText();
    expect(metrics).toMatch(/^shinken_refused_forks_total [1-9]\d*$/m);
    expect(metrics).toMatch(/^shinken_infra_failures_total\{code="out_of_memory"\} [1-9]\d*$/m);
    host.usedMiB = 100;
    await new Promise((resolve) => setTimeout(resolve, 60));
    await other.reset();
    await Promise.all([session.close(), other.close()]);
  });

  it("frees the machine of a client that has vanished", async () => {
    const before = provider.openMachines();
    const other = await connect(server.url, { reconnect: false });
    const session = await other.create({ image: "shell" });
    await session.reset();
    expect(provider.openMachines()).toBe(before + 1);
    other.breakConnection();
    await until(() => provider.openMachines() === before);
  });
});
