/** A golden from another node, over real HTTP: from one that works, and from those that are broken or hostile. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { fetchGolden, type FetchOptions } from "../../../src/rollout/queue/index.js";
import { heldGolden } from "../../../src/sandbox/microvm/golden-adopt.js";
import { goldenFolder } from "../../../src/sandbox/microvm/golden-folder.js";
import { startGoldenServer } from "../../../src/server/goldens/index.js";
import { goldenSample, type GoldenSample, type SampleOptions } from "../../support/golden-file.js";

let place: string;
let sample: GoldenSample;
let bytes: Buffer;
const token = "a token of the test".replaceAll(" ", "-");

beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), "shinken-fetch-"));
  sample = await goldenSample(join(place, "holder"));
  bytes = readFileSync(sample.path);
});
afterAll(() => {
  rmSync(place, { recursive: true, force: true });
});

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A node that answers as it likes. Gives its address, and counts requests. */
async function peer(handler: Handler): Promise<{ url: string; asked: () => number }> {
  let asked = 0;
  const server = createServer((request, response) => {
    asked += 1;
    response.on("error", () => undefined);
    handler(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked: () => asked };
}

/** A node of ours that holds the sample. */
async function holder(): Promise<string> {
  const server = await startGoldenServer({
    host: "127.0.0.1",
    port: 0,
    token,
    async find(digest) {
      const path = await heldGolden(sample.folder, digest);
      return path === null ? null : { path, state: basename(path, ".golden") };
    },
  });
  cleanups.push(() => server.close());
  return server.url;
}

let fetches = 0;
function fetching(url: string, options: Partial<FetchOptions> = {}) {
  fetches += 1;
  const folder = options.folder ?? goldenFolder(join(place, `fetcher-${fetches}`));
  return { folder, fetched: fetchGolden(sample.expected, { url, token, folder, ...options }) };
}

const head = (length: number | string, state = sample.state) => ({
  "content-length": String(length),
  "x-shinken-state": state,
  etag: '"one"',
});

/** Files below a folder, by their names. */
const filesIn = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder).filter((name) => name !== "by-key") : [];

async function refused(handler: Handler, message: RegExp, limits: FetchOptions["limits"] = {}) {
  const { url } = await peer(handler);
  const { folder, fetched } = fetching(url, { limits });
  await expect(fetched).rejects.toMatchObject({
    code: "golden_transfer",
    message: expect.stringMatching(message) as string,
  });
  expect(filesIn(folder)).toEqual([]);
  expect(await heldGolden(folder, sample.expected.key)).toBeNull();
}

/** The file of another golden than the one that is expected. */
async function other(options: SampleOptions): Promise<{ state: string; bytes: Buffer }> {
  fetches += 1;
  const { state, path } = await goldenSample(join(place, `other-${fetches}`), options);
  return { state, bytes: readFileSync(path) };
}

describe("a golden from another node", () => {
  it("is the same file, under the same key", async () => {
    const { folder, fetched } = fetching(await holder());
    expect((await fetched).bytes).toBe(bytes.length);
    expect(filesIn(folder)).toEqual([`${sample.state}.golden`]);
    expect(readFileSync((await heldGolden(folder, sample.expected.key)) ?? "").equals(bytes)).toBe(true);
  });

  it("goes on where a connection broke", async () => {
    const half = bytes.length >> 1;
    const { url, asked } = await peer((request, response) => {
      const { range } = request.headers;
      if (range === undefined) {
        response.writeHead(200, head(bytes.length));
        response.write(bytes.subarray(0, half), () => response.destroy());
        return;
      }
      const from = Number(/^bytes=(\d+)-$/.exec(range)?.[1]);
      expect(request.headers["if-range"]).toBe('"one"');
      const size = bytes.length;
      response.writeHead(206, { ...head(size - from), "content-range": `bytes ${from}-${size - 1}/${size}` });
      response.end(bytes.subarray(from));
    });
    const { folder, fetched } = fetching(url);
    await fetched;
    expect(asked()).toBe(2);
    expect(readFileSync((await heldGolden(folder, sample.expected.key)) ?? "").equals(bytes)).toBe(true);
  });

  it("is whole for all who fetch it into one folder at the same time", async () => {
    const url = await holder();
    const first = fetching(url);
    const { folder } = first;
    const others = [1, 2, 3].map(() => fetching(url, { folder }).fetched);
    // One that fails in the same folder takes nothing from the others.
    const broken = await peer((_request, response) => {
      response.writeHead(200, head(bytes.length));
      response.end(Buffer.alloc(bytes.length));
    });
    const failing = fetching(broken.url, { folder }).fetched;
    await expect(failing).rejects.toMatchObject({ code: "golden_transfer" });
    await Promise.all([first.fetched, ...others]);
    expect(filesIn(folder)).toEqual([`${sample.state}.golden`]);
    expect(readFileSync((await heldGolden(folder, sample.expected.key)) ?? "").equals(bytes)).toBe(true);
  });

  it("is not given without the token", async () => {
    const { folder, fetched } = fetching(await holder(), { token: "another-token-of-some-length" });
    await expect(fetched).rejects.toMatchObject({ code: "golden_transfer" });
    expect(filesIn(folder)).toEqual([]);
  });

  it("stops with whoever wanted it", async () => {
    const stop = new AbortController();
    const { url } = await peer((_request, response) => {
      response.writeHead(200, head(bytes.length));
      response.write(bytes.subarray(0, 100), () => {
        stop.abort();
      });
    });
    const { folder, fetched } = fetching(url, { signal: stop.signal });
    await expect(fetched).rejects.toMatchObject({ code: "golden_transfer" });
    expect(filesIn(folder)).toEqual([]);
  });
});

describe("nothing is kept of a node", () => {
  it("whose file was damaged on its way", () => {
    const damaged = Buffer.from(bytes);
    damaged.writeUInt8((damaged.at(-1) ?? 0) ^ 1, damaged.length - 1);
    return refused((_request, response) => {
      response.writeHead(200, head(damaged.length));
      response.end(damaged);
    }, /not the golden/);
  });

  it("whose file is whole, but of another state than it said", async () => {
    const { bytes: wrong } = await other({ instructions: 200 });
    await refused((_request, response) => {
      response.writeHead(200, head(wrong.length));
      response.end(wrong);
    }, /its state is/);
  });

  it.each<[string, SampleOptions, RegExp]>([
    ["stands on another image", { image: "another" }, /another image/],
    ["has another memory", { memoryMiB: 128 }, /its memory has/],
    ["has a note that nobody can use", { note: "{}" }, /its note/],
  ])("whose golden %s", async (_what, options, message) => {
    const { state, bytes: wrong } = await other(options);
    await refused((_request, response) => {
      response.writeHead(200, head(wrong.length, state));
      response.end(wrong);
    }, message);
  });

  it("that sends less than it said, however often it is asked", async () => {
    let requests = 0;
    const size = bytes.length;
    await refused((request, response) => {
      requests += 1;
      const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
      response.writeHead(requests === 1 ? 200 : 206, {
        ...head(size - from),
        "content-range": `bytes ${from}-${size - 1}/${size}`,
      });
      response.write(bytes.subarray(from, from + 100), () => response.destroy());
    }, /only \d+ of/);
    expect(requests).toBe(3);
  });

  it("that says a length beyond any golden of that memory", () =>
    refused((_request, response) => {
      response.writeHead(200, head(2 ** 40));
      response.write("x");
    }, /more than/));

  it("that sends without an end, and says no length", () =>
    refused((_request, response) => {
      response.writeHead(200, { "x-shinken-state": sample.state });
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        if (!response.destroyed) response.once("drain", more);
      };
      more();
    }, /how long/));

  it("that says nothing after its first bytes", () =>
    refused(
      (_request, response) => {
        response.writeHead(200, head(bytes.length));
        response.write(bytes.subarray(0, 100));
      },
      /nothing came for 50 ms/,
      { idleMs: 50, resumes: 0 },
    ));

  it("that sends a byte now and then", () =>
    refused(
      (_request, response) => {
        response.writeHead(200, head(bytes.length));
        const drip = setInterval(() => response.write("x"), 10);
        response.on("close", () => {
          clearInterval(drip);
        });
      },
      /within 200 ms/,
      { transferMs: 200 },
    ));

  it("that never answers", () => refused(() => undefined, /nothing came for 50 ms/, { idleMs: 50 }));

  it("that sends it compressed, which could be without an end", () =>
    refused((_request, response) => {
      response.writeHead(200, { ...head(bytes.length), "content-encoding": "gzip" });
      response.end(bytes);
    }, /another encoding/));

  it.each(["../../etc/passwd", "0".repeat(31), ""])("that names the state %j", (state) =>
    refused((_request, response) => {
      response.writeHead(200, head(bytes.length, state));
      response.end(bytes);
    }, /which state/),
  );

  it("that sends one elsewhere, which is not asked and told no token", async () => {
    const elsewhere = await peer((_request, response) => {
      response.writeHead(200, head(bytes.length));
      response.end(bytes);
    });
    await refused((_request, response) => {
      response.writeHead(302, { location: `${elsewhere.url}/goldens/${sample.expected.key}` });
      response.end();
    }, /status 302/);
    expect(elsewhere.asked()).toBe(0);
  });

  it("that is not there", async () => {
    const { url } = await peer(() => undefined);
    for (const cleanup of cleanups.splice(0)) await cleanup();
    const { folder, fetched } = fetching(url);
    await expect(fetched).rejects.toMatchObject({ code: "golden_transfer" });
    expect(filesIn(folder)).toEqual([]);
  });
});
