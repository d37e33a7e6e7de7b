import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect, type ShinkenClient } from "../../src/client/index.js";
import { TaskEnvironmentFactory } from "../../src/env/index.js";
import { imageNames } from "../../src/images/index.js";
import { guestMemory } from "../../src/sandbox/microvm/addon.js";
import { MicrovmProvider } from "../../src/sandbox/microvm/provider.js";
import type { RunningServer } from "../../src/server/index.js";
import { Peer, start, stopAll, until } from "../support/wire-server.js";

const hasImage = imageNames().some(({ name }) => name === "shell");

describe("a server of real machines without an image", () => {
  const cacheDir = mkdtempSync(join(tmpdir(), "shinken-no-image-"));
  let provider: MicrovmProvider;
  let peer: Peer;

  beforeAll(async () => {
    provider = new MicrovmProvider({ cacheDir });
    peer = await Peer.connect(await start({ factory: new TaskEnvironmentFactory({ provider, tasks: [] }) }));
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
});

describe.skipIf(!hasImage)("a server of real machines, with the shell image that is in the cache,", () => {
  let provider: MicrovmProvider;
  let server: RunningServer;
  let client: ShinkenClient;

  beforeAll(async () => {
    provider = new MicrovmProvider();
    const factory = new TaskEnvironmentFactory({ provider, tasks: [] });
    server = await start({
      factory,
      machines: () => provider.openMachines(),
      guestMemory,
      limits: { graceSeconds: 0.3 },
    });
    client = await connect(server.url);
  });
  afterAll(async () => {
    await client.close();
    await stopAll();
    await provider.close();
  });

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
    const metrics = await (await fetch(server.url.replace("ws:", "http:").replace("/v1", "/metrics"))).text();
    expect(metrics).toContain("shinken_fork_ready_seconds_count 1");
    // The kept golden's pages: in memory where it was booted just now, in a file where it was loaded.
    expect(metrics).toMatch(/^shinken_guest_memory_(live|file)_bytes [1-9]\d{6,}$/m);
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
