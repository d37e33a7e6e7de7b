/** Goldens for other nodes: what the server gives, to whom, and where it stops. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  type GoldenServer,
  type GoldenServerOptions,
  startGoldenServer,
} from "../../src/server/goldens/index.js";
import { rangeOf } from "../../src/server/goldens/range.js";

const token = "0123456789abcdef-token";
const key = "ab".repeat(32);
const state = "cd".repeat(16);
const bytes = Buffer.from(Array.from({ length: 1_000 }, (_, index) => index % 251));
const authorization = `Bearer ${token}`;

let folder: string;
let server: GoldenServer;
let looked: string[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "shinken-golden-server-"));
  writeFileSync(join(folder, "file"), bytes);
  looked = [];
  server = await started();
});
afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

function started(more: Partial<GoldenServerOptions> = {}): Promise<GoldenServer> {
  return startGoldenServer({
    host: "127.0.0.1",
    port: 0,
    token,
    find(digest) {
      looked.push(digest);
      return Promise.resolve(
        digest === key || digest === state ? { path: join(folder, "file"), state } : null,
      );
    },
    ...more,
  });
}

const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  fetch(`${server.url}${path}`, { method, headers: { authorization, ...headers } });

describe("the server of goldens", () => {
  it("gives a file by its key or its state, and says which state it is", async () => {
    for (const digest of [key, state]) {
      const response = await get(`/goldens/${digest}`);
      expect(response.status).toBe(200);
      expect(response.headers.get("x-shinken-state")).toBe(state);
      expect(response.headers.get("content-length")).toBe("1000");
      expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
    }
    await vi.waitFor(() => {
      expect(server.given()).toBe(2);
    });
  });

  it("gives a part, as long as the file is the same", async () => {
    const etag = (await get(`/goldens/${key}`)).headers.get("etag") ?? "";
    const part = await get(`/goldens/${key}`, { range: "bytes=900-", "if-range": etag });
    expect(part.status).toBe(206);
    expect(part.headers.get("content-range")).toBe("bytes 900-999/1000");
    expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(900))).toBe(true);
    const whole = await get(`/goldens/${key}`, { range: "bytes=900-", "if-range": '"another"' });
    expect(whole.status).toBe(200);
    expect((await whole.arrayBuffer()).byteLength).toBe(1_000);
    const beyond = await get(`/goldens/${key}`, { range: "bytes=1000-" });
    expect(beyond.status).toBe(416);
    expect(beyond.headers.get("content-range")).toBe("bytes */1000");
  });

  it.each(["", "Bearer ", `Bearer ${token}x`, `Bearer ${token.slice(1)}`, `Basic ${token}`])(
    "gives nothing to whoever says %j, and does not even look",
    async (said) => {
      const response = await get(`/goldens/${key}`, { authorization: said });
      expect(response.status).toBe(401);
      expect((await response.arrayBuffer()).byteLength).toBe(0);
      expect(looked).toEqual([]);
    },
  );

  it.each([
    "/",
    "/goldens/",
    `/goldens/${key}/`,
    `/goldens/${key}?x=1`,
    `/goldens/${key.slice(1)}`,
    `/goldens/${key.toUpperCase()}`,
    "/goldens/..%2f..%2fetc%2fpasswd",
    `/goldens/by-key/${key}`,
  ])("looks for no file at %j", async (path) => {
    expect((await get(path)).status).toBe(404);
    expect(looked).toEqual([]);
  });

  it("says what it does not have", async () => {
    expect((await get(`/goldens/${"0".repeat(64)}`)).status).toBe(404);
    rmSync(join(folder, "file"));
    expect((await get(`/goldens/${key}`)).status).toBe(404);
  });

  it.each(["POST", "PUT", "DELETE", "HEAD"])("does not answer %s", async (method) => {
    const response = await get(`/goldens/${key}`, {}, method);
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("GET");
    expect(looked).toEqual([]);
  });

  it("listens where others can reach it only with a token", async () => {
    await expect(started({ host: "0.0.0.0", token: undefined })).rejects.toMatchObject({
      code: "unauthorized",
    });
    await expect(started({ token: "short" })).rejects.toMatchObject({ code: "unauthorized" });
  });

  it("says which address is taken", async () => {
    const port = Number(new URL(server.url).port);
    await expect(started({ port })).rejects.toMatchObject({ code: "bad_request" });
  });

  it("lets in no more connections than its limit", async () => {
    const small = await started({ limits: { connections: 1 } });
    const port = Number(new URL(small.url).port);
    const first = connect(port, "127.0.0.1");
    await new Promise((resolve) => first.once("connect", resolve));
    const second = connect(port, "127.0.0.1");
    second.on("error", () => undefined);
    await new Promise((resolve) => second.once("close", resolve));
    first.destroy();
    await small.close();
  });

  it("lets go of who takes nothing", async () => {
    writeFileSync(join(folder, "file"), Buffer.alloc(64 * 1024 ** 2));
    const impatient = await started({ limits: { idleMs: 100 } });
    const socket = connect(Number(new URL(impatient.url).port), "127.0.0.1");
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.on("error", () => undefined);
    socket.pause();
    socket.write(`GET /goldens/${key} HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n\r\n`);
    // Its bytes are taken only once the server has ended, which would not end if it still waited for them.
    await new Promise((resolve) => setTimeout(resolve, 500));
    socket.resume();
    await closed;
    expect(impatient.given()).toBe(0);
    await impatient.close();
  });
});

describe("a byte range", () => {
  it("lies within the file, whatever the header says", () => {
    const number = fc.oneof(fc.constant(""), fc.nat(2_000).map(String));
    fc.assert(
      fc.property(number, number, fc.integer({ min: 1, max: 1_500 }), (from, to, size) => {
        const range = rangeOf(`bytes=${from}-${to}`, size);
        if (range === "unsatisfiable") {
          expect(from === "" ? Number(to) === 0 : Number(from) >= size).toBe(true);
        } else if (range === null) {
          expect(from === "" ? to === "" : to !== "" && Number(to) < Number(from)).toBe(true);
        } else {
          expect(range.first).toBeGreaterThanOrEqual(0);
          expect(range.last).toBeGreaterThanOrEqual(range.first);
          expect(range.last).toBeLessThan(size);
          if (from === "") expect(range).toEqual({ first: Math.max(0, size - Number(to)), last: size - 1 });
          else expect(range.first).toBe(Number(from));
        }
      }),
    );
  });

  it.each([undefined, "bytes=0-1,3-4", "items=0-1", "bytes=-", "bytes=a-b"])("is none in %j", (header) => {
    expect(rangeOf(header, 10)).toBeNull();
  });
});
