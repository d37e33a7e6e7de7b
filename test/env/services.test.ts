import { afterAll, describe, expect, it } from "vitest";
import { TaskEnvironmentFactory } from "../../src/env/index.js";
import { makeTask } from "../../src/env/task/index.js";
import { closePool } from "../../src/verifiers/index.js";
import { machinesUnavailable, providerForFile } from "../support/machine.js";
import { sh } from "./session-support.js";

const unavailable = await machinesUnavailable();
const provider = providerForFile();
afterAll(closePool);

/** A service that serves its folder and notes who asked for what. */
const files = {
  name: "files",
  memory_mib: 128,
  setup: [
    { write: { path: "/srv/report.txt", lines: [{ param: "total" }], owner: "root" } },
    {
      launch: {
        argv: ["sh", "-c", "cd /srv && exec python3 -m http.server 8000 2> /var/log/asked.txt"],
        user: "root",
      },
    },
  ],
  ready: [{ port: 8000 }],
};

const task = makeTask({
  id: "fetch",
  version: "1.0.0",
  instruction: "Fetch report.txt from http://files:8000/ into report.txt.",
  memory_mib: 128,
  params: { total: { type: "integer", min: 1, max: 99 } },
  services: [files],
  verify: {
    graph: {
      all: [
        {
          id: "fetched",
          channel: "fs",
          milestone: true,
          query: { kind: "text", path: "/home/agent/report.txt" },
          assert: {
            type: "text",
            lines: { from: { channel: "fs", query: { kind: "lines", path: "/home/agent/same" } } },
          },
          on_error: "fail",
        },
        {
          id: "asked",
          channel: "fs",
          machine: "files",
          milestone: true,
          query: { kind: "text", path: "/var/log/asked.txt" },
          assert: { type: "text", contains: "GET /report.txt" },
        },
      ],
    },
  },
  oracle: [{ type: "exec", command: "curl -s http://files:8000/report.txt | tee same > report.txt" }],
});
const fetching = sh(
  "curl -s --max-time 20 http://files:8000/report.txt | tee same > report.txt; cat report.txt",
);

describe.skipIf(unavailable !== null)("a task with a service", () => {
  const open = (): TaskEnvironmentFactory =>
    new TaskEnvironmentFactory({ provider: provider(), tasks: [task] });

  it("is played beside a machine that is found by its name, set up with the same parameters, and graded", async () => {
    const factory = open();
    const session = await factory.create("fetch");
    await session.reset({ seed: 1, params: { total: 42 } });
    expect(provider().openMachines()).toBe(2);
    expect((await session.evaluate()).checks.map(({ status }) => status)).toEqual(["failed", "failed"]);
    const step = await session.step([fetching]);
    expect(step.observation.results[0]).toMatchObject({ stdout: "42\n" });
    expect(step.info).toMatchObject({ earned: ["fetched", "asked"] });
    expect(await session.evaluate()).toMatchObject({ score: 1, passed: true });
    await session.close();
    expect(provider().openMachines()).toBe(0);
    factory.close();
  });

  it("is branched with its services: what a branch does to its own is not seen by the other", async () => {
    const factory = open();
    const session = await factory.create("fetch");
    await session.reset({ seed: 2, params: { total: 7 } });
    const branch = await session.fork();
    expect(provider().openMachines()).toBe(4);
    expect((await branch.step([fetching])).info).toMatchObject({ earned: ["fetched", "asked"] });
    expect((await session.step([sh("true")])).info).toMatchObject({ earned: [], held: [] });
    await branch.close();
    expect((await session.step([fetching])).info).toMatchObject({ earned: ["fetched", "asked"] });
    await session.close();
    expect(provider().openMachines()).toBe(0);
    factory.close();
  });

  it("is the same again from the same seed, addresses included", async () => {
    const factory = open();
    const seen: unknown[] = [];
    for (let round = 0; round < 2; round++) {
      const session = await factory.create("fetch");
      await session.reset({ seed: 3, params: { total: 9 } });
      const { observation, info } = await session.step([
        sh("cat /etc/hosts; curl -s http://files:8000/report.txt"),
      ]);
      seen.push([observation, info["guest_ms"], info["instructions"]]);
      await session.close();
    }
    expect(seen[1]).toEqual(seen[0]);
    factory.close();
  });

  it("keeps no checkpoints, and says so", async () => {
    const factory = open();
    const session = await factory.create("fetch", { checkpoints: {} });
    await expect(session.reset({ seed: 1 })).rejects.toMatchObject({
      code: "bad_request",
      path: "checkpoints",
    });
    await session.close();
    expect(provider().openMachines()).toBe(0);
    factory.close();
  });
});

describe("services", () => {
  const broken = (change: object) => (): unknown =>
    makeTask({ id: "x", version: "1.0.0", instruction: "x", ...change });
  const base = {
    oracle: [{ type: "done" }],
    verify: {
      graph: {
        id: "a",
        channel: "fs",
        machine: "db",
        query: { kind: "text", path: "/a" },
        assert: { type: "text", equals: "x" },
      },
    },
  };

  it.each([
    [{ ...base }, "verify.graph.machine"],
    [{ ...base, services: [{ name: "dbs" }] }, "verify.graph.machine"],
    [{ ...base, services: [{ name: "db" }, { name: "db" }] }, "services[1].name"],
    [{ ...base, services: [{ name: "db" }, { name: "localhost" }] }, "services[1].name"],
    [{ ...base, services: [{ name: "a b" }] }, "services[0].name"],
    [
      { ...base, services: [{ name: "db", setup: [{ write: { path: "/x", asset: "y" } }] }] },
      "services[0].setup[0].write.asset",
    ],
  ])("that are wrong are refused by their place: %#", (document, path) => {
    expect(broken(document)).toThrow(expect.objectContaining({ code: "bad_task", path }) as Error);
  });
});
