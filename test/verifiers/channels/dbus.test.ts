import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { closePool } from "../../../src/verifiers/index.js";
import { type Command, MemorySandbox } from "../../support/memory-sandbox.js";
import { check, standsDamage } from "./support.js";

afterAll(closePool);

const BUSCTL = "/usr/bin/busctl";
const BUS = {
  service: "org.freedesktop.DBus",
  object: "/org/freedesktop/DBus",
  interface: "org.freedesktop.DBus",
};

/** No image has a bus yet: the command that a machine would run runs here, word for word. */
const hosted: Command = ({ argv }) => {
  const [program = "", ...words] = argv;
  const { status, stdout, stderr } = spawnSync(program, words, { env: { PATH: "/usr/bin" } });
  return { exitCode: status, out: stdout.toString(), stderr };
};

/** What busctl of systemd 252 and dbus-daemon 1.14 printed. */
const recorded = (out: string, stderr = ""): MemorySandbox =>
  new MemorySandbox({
    commands: { [BUSCTL]: () => ({ exitCode: stderr === "" ? 0 : 1, out, stderr: Buffer.from(stderr) }) },
  });
const any = { type: "json", exists: true };

describe("dbus", () => {
  it("asks for what a query means, and only for that", async () => {
    const seen: (readonly string[])[] = [];
    const users: (string | undefined)[] = [];
    const machine = new MemorySandbox({
      commands: {
        [BUSCTL]: ({ argv, user, cleanEnv }) => {
          seen.push(argv.slice(6));
          users.push(cleanEnv === true ? user : "unclean");
          expect(argv.slice(1, 6)).toEqual([
            "--json=short",
            "--no-pager",
            "--auto-start=no",
            "--timeout=10",
            "--address=unix:path=/run/user/1000/b%20s",
          ]);
          return { out: '{"type":"s","data":["<node/>"]}' };
        },
      },
    });
    const bus = { socket: "/run/user/1000/b s", user: "agent" };
    const thing = { service: "org.example.App", object: "/org/example", interface: "org.example.Face" };
    await check("dbus", { ...bus, kind: "property", ...thing, property: "Volume" }, any, machine);
    await check("dbus", { ...bus, kind: "properties", ...thing }, any, machine);
    await check("dbus", { ...bus, kind: "introspect", service: thing.service, object: "/" }, any, machine);
    const call = { method: "GetItem", signature: "su", args: ["--user", "3"] };
    await check("dbus", { ...bus, kind: "call", ...thing, ...call }, any, machine);
    const words = ["org.example.App", "/org/example", "org.example.Face"];
    expect(seen).toEqual([
      ["get-property", ...words, "Volume"],
      [
        "call",
        "org.example.App",
        "/org/example",
        "org.freedesktop.DBus.Properties",
        "GetAll",
        "s",
        "org.example.Face",
      ],
      ["call", "org.example.App", "/", "org.freedesktop.DBus.Introspectable", "Introspect"],
      ["--", "call", ...words, "GetItem", "su", "--user", "3"],
    ]);
    expect(users).toEqual(["agent", "agent", "agent", "agent"]);
  });

  it.each([
    [
      "Failed to connect to bus: No such file or directory",
      "failed",
      "there is no bus at /run/dbus/system_bus_socket",
    ],
    [
      "Failed to get property D on interface b.c: The name no.such was not provided by any .service files",
      "failed",
      "no.such",
    ],
    ["Call failed: org.freedesktop.DBus does not understand message Nope", "failed", "does not understand"],
    ['Failed to get property F on interface x.y: Interface "x.y" not found', "failed", "not found"],
    ["Call failed: Connection timed out", "ungraded", "timeout: "],
    ["Call failed: Access denied", "ungraded", "exit code 1: Call failed: Access denied"],
  ])("that says %j makes the check %s", async (said, status, why) => {
    const query = { kind: "property", ...BUS, property: "Features" };
    expect(await check("dbus", query, any, recorded("", said))).toEqual({
      status,
      evidence: expect.stringContaining(why) as string,
    });
  });

  it.each(["SetVolume", "Getaway", "Quit", "Hello", "Issue"])(
    "never calls %s, which does not say that it reads",
    async (method) => {
      await expect(check("dbus", { kind: "call", ...BUS, method }, any)).rejects.toMatchObject({
        code: "bad_task",
        message: expect.stringContaining("whose name says that it reads") as string,
      });
    },
  );

  it("takes a fork for each query, in which the workload would go on", async () => {
    const machine = recorded('{"type":"s","data":"x"}');
    let thawed = 0;
    const fork = machine.fork.bind(machine);
    machine.fork = async (kind) => {
      const made = await fork(kind);
      return Object.assign(made, {
        workload: (state: string) => {
          if (state === "goes on") thawed++;
          return Promise.resolve();
        },
      });
    };
    const property = (name: string) => ({
      channel: "dbus",
      query: { kind: "property", ...BUS, property: name },
    });
    const assert = { type: "json", equals: { from: property("Other") } };
    expect(await check("dbus", property("One").query, assert, machine)).toMatchObject({ status: "passed" });
    expect(thawed).toBe(2);
    expect(machine.counters).toMatchObject({ forks: 2, open: 0 });
  });

  it("stands damaged replies", async () => {
    const replies = [
      '{"type":"as","data":[["org.freedesktop.DBus",":1.1"]]}',
      '{"type":"s","data":["<node><interface name=\\"a.b\\"><method name=\\"M\\"/></interface></node>"]}',
    ];
    const bus = { socket: "/s", user: "root", timeout_ms: 1, max_bytes: 1 };
    await standsDamage(
      replies.map((text) => Buffer.from(text)),
      [
        { channel: "dbus", query: { kind: "names", ...bus } },
        { channel: "dbus", query: { kind: "introspect", ...bus, service: "a.b", object: "/" } },
        { channel: "dbus", query: { kind: "properties", ...bus, ...BUS } },
      ],
    );
  });
});

describe.skipIf(!existsSync(BUSCTL) || !existsSync("/usr/bin/dbus-daemon"))("dbus on a real bus", () => {
  const folder = mkdtempSync(join(tmpdir(), "shinken-bus-"));
  const socket = join(folder, "bus");
  let pid = 0;
  beforeAll(() => {
    const words = ["--session", `--address=unix:path=${socket}`, "--fork", "--print-pid", "--nopidfile"];
    pid = Number(execFileSync("/usr/bin/dbus-daemon", words, { encoding: "utf8" }));
  });
  afterAll(() => {
    process.kill(pid);
    rmSync(folder, { recursive: true });
  });
  const machine = new MemorySandbox({ commands: { [BUSCTL]: hosted } });
  const ask = (query: object, assert: object) => check("dbus", { socket, ...query }, assert, machine);

  it.each([
    [{ kind: "names" }, { type: "list", equals: ["org.freedesktop.DBus"] }],
    [
      { kind: "property", ...BUS, property: "Features" },
      { type: "json", path: "/type", equals: "as" },
    ],
    [
      { kind: "properties", ...BUS },
      { type: "json", path: "/Features/type", equals: "as" },
    ],
    [
      { kind: "call", ...BUS, method: "NameHasOwner", signature: "s", args: ["org.example.None"] },
      { type: "json", equals: { type: "b", data: [false] } },
    ],
    [
      { kind: "introspect", service: BUS.service, object: BUS.object },
      {
        type: "json",
        path: "/interfaces/org.freedesktop.DBus/properties/Features",
        equals: { type: "as", access: "read" },
      },
    ],
  ])("%j satisfies %j", async (query, assert) => {
    const { status, evidence } = await ask(query, assert);
    expect(status, evidence).toBe("passed");
  });

  it("fails where bus, service, object, interface or property is not there", async () => {
    for (const change of [
      { socket: "/nowhere/bus" },
      { service: "org.example.None" },
      { object: "/none" },
      { interface: "org.example.None" },
      { property: "None" },
    ]) {
      const { status, evidence } = await ask(
        { kind: "property", ...BUS, property: "Features", ...change },
        any,
      );
      expect(status, `${JSON.stringify(change)}: ${evidence}`).toBe("failed");
    }
  });
});
