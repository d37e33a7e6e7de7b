import { afterAll, describe, expect, it } from "vitest";
import { closePool } from "../../../src/verifiers/index.js";
import { MemorySandbox } from "../../support/memory-sandbox.js";
import { check, standsDamage } from "./support.js";

afterAll(closePool);

const CURL = "/usr/bin/curl";
/** What curl of the image prints; `machine.test.ts` asks a real one. */
const answers = (out: string, exitCode = 0): MemorySandbox =>
  new MemorySandbox({
    commands: { [CURL]: () => ({ out, exitCode, stderr: Buffer.from("curl: (x) why") }) },
  });
const get = (kind: string, assert: object, out: string, exitCode = 0, more: object = {}) =>
  check("http", { kind, port: 80, ...more }, assert, answers(out, exitCode));
const page = "HTTP/1.1 200 OK\r\nServer: x\r\nX: a\r\nx:  b \r\n\r\nbody";

describe("http", () => {
  it("reads the response that counts", async () => {
    const interim = `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${page}`;
    expect((await get("text", { type: "text", equals: "body" }, interim)).status).toBe("passed");
    const headers = { server: ["x"], x: ["a", "b"] };
    expect((await get("headers", { type: "json", equals: headers }, page)).status).toBe("passed");
    const gone = "HTTP/1.0 410 Gone\r\n\r\n";
    expect((await get("status", { type: "number", equals: 410 }, gone)).status).toBe("passed");
    expect((await get("text", { type: "text", equals: "" }, gone, 0, { expect_status: 410 })).status).toBe(
      "passed",
    );
  });

  it("hands curl nothing that it would take for a setting of its own", async () => {
    let seen: readonly string[] = [];
    const machine = new MemorySandbox({
      commands: {
        [CURL]: ({ argv, env, cleanEnv, user }) => {
          seen = argv;
          expect([cleanEnv, user, env?.["http_proxy"]]).toEqual([true, "root", undefined]);
          return { out: page };
        },
      },
    });
    const query = { kind: "text", port: 80, path: "/a?b={c}[1-9]&d=@e", headers: { "X-A": "@/etc/shadow" } };
    await check("http", query, { type: "text", equals: "body" }, machine);
    expect(seen.slice(0, 2)).toEqual([CURL, "-q"]);
    expect(seen.at(-1)).toBe("http://127.0.0.1:80/a?b={c}[1-9]&d=@e");
    expect(seen).toContain("--globoff");
    expect(seen).toContain("X-A: @/etc/shadow");
  });

  it.each([
    [{ path: "a" }, "query.path"],
    [{ path: "/a b" }, "query.path"],
    [{ path: "/a\r\nX: y" }, "query.path"],
    [{ path: "/a#b" }, "query.path"],
    [{ headers: { "X:": "y" } }, "query.headers"],
    [{ headers: { "@file": "y" } }, "query.headers"],
    [{ headers: { X: "y\r\nZ: z" } }, "query.headers"],
    [{ body: "x" }, "only a POST has a body"],
    [{ method: "DELETE" }, "query.method"],
    [{ address: "10.0.0.1" }, "query.address"],
    [{ port: 0 }, "query.port"],
  ])("refuses %j", async (more, why) => {
    await expect(get("status", { type: "number", equals: 1 }, page, 0, more)).rejects.toMatchObject({
      code: "bad_task",
      message: expect.stringContaining(why) as string,
    });
  });

  it.each([
    ["an empty answer", "", 52, "curl: (x) why"],
    ["what is not HTTP", "SSH-2.0-OpenSSH\r\n\r\n", 0, "the answer is no HTTP response"],
    ["a damaged header", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", 0, "a header is damaged"],
    [
      "interim responses without end",
      "HTTP/1.1 100 Continue\r\n\r\n".repeat(40),
      0,
      "the answer is no HTTP response",
    ],
    ["too large a body", page, 63, "curl: (x) why"],
  ])("%s is ungraded", async (_, out, exitCode, why) => {
    const outcome = await get("text", { type: "text", contains: "x" }, out, exitCode);
    expect(outcome).toMatchObject({ status: "ungraded", evidence: expect.stringContaining(why) as string });
  });

  it("stands damaged responses", async () => {
    const common = {
      port: 80,
      address: "127.0.0.1",
      method: "GET",
      path: "/",
      headers: {},
      timeout_ms: 1,
      max_bytes: 99,
    } as const;
    await standsDamage(
      [Buffer.from(page), Buffer.from('HTTP/1.1 200 OK\r\nA: b\r\n\r\n{"a":[1,2]}')],
      [
        { channel: "http", query: { kind: "json", expect_status: 200, ...common } },
        { channel: "http", query: { kind: "headers", expect_status: 200, ...common } },
      ],
    );
  });
});
