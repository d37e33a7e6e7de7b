/** Gives golden files to other nodes, over HTTP: GET by key or state digest, and nothing else. */
import { open } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { type AddressInfo, isIPv6 } from "node:net";
import { ShinkenError } from "../../errors/index.js";
import { assertAddressAllowed, bearerMatches } from "../auth.js";
import { rangeOf } from "./range.js";

export interface GoldenServerOptions {
  host: string;
  /** 0 for any free one. */
  port: number;
  /** Required where others than this host can reach the address. */
  token: string | undefined;
  /** The file of a key (64 hex digits) or a state digest (32), and its state digest; null if there is none. */
  find: (digest: string) => Promise<{ path: string; state: string } | null>;
  limits?: Partial<GoldenServerLimits> | undefined;
}

export interface GoldenServerLimits {
  connections: number;
  /** Milliseconds that a request's head may take. */
  headMs: number;
  /** Milliseconds in which a reader takes nothing. */
  idleMs: number;
  /** Milliseconds that one file may take. */
  transferMs: number;
}

export const goldenServerLimits: GoldenServerLimits = {
  connections: 16,
  headMs: 5_000,
  idleMs: 20_000,
  transferMs: 600_000,
};

export interface GoldenServer {
  /** Where it listens, as its own host sees it. */
  url: string;
  /** Files, and parts of files, that were given whole. */
  given(): number;
  close(): Promise<void>;
}

/** Names the state of the machine in the file. */
const stateHeader = "x-shinken-state";
const address = /^\/goldens\/([0-9a-f]{64}|[0-9a-f]{32})$/;
const maxHeadBytes = 8 * 1024;

/** @throws ShinkenError `unauthorized` for an address that needs a token, `bad_request` for one that cannot be listened on */
export async function startGoldenServer(options: GoldenServerOptions): Promise<GoldenServer> {
  const { host, port, token } = options;
  assertAddressAllowed(host, token);
  const limits = { ...goldenServerLimits, ...options.limits };
  let given = 0;
  const server = createServer(
    { headersTimeout: limits.headMs, requestTimeout: limits.headMs, maxHeaderSize: maxHeadBytes },
    (request, response) => {
      answer(request, response, options, limits).then(
        (whole) => {
          if (whole) given += 1;
        },
        // Nothing more can be said on a response that has begun.
        () => response.destroy(),
      );
    },
  );
  server.maxConnections = limits.connections;
  server.setTimeout(limits.idleMs, (socket) => socket.destroy());
  await listening(server, host, port);
  const { port: actual } = server.address() as AddressInfo;
  return {
    url: `http://${isIPv6(host) ? `[${host}]` : host}:${actual}`,
    given: () => given,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause) => {
      reject(
        new ShinkenError("bad_request", `${host}:${port} cannot be listened on: ${cause.message}`, { cause }),
      );
    });
    server.listen(port, host, resolve);
  });
}

/** True if a file, or the part that was asked for, was given. */
async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { token, find }: GoldenServerOptions,
  { transferMs }: GoldenServerLimits,
): Promise<boolean> {
  response.setHeader("connection", "close");
  if (!bearerMatches(request.headers.authorization ?? "", token))
    return refuse(response, 401, { "www-authenticate": "Bearer" });
  if (request.method !== "GET") return refuse(response, 405, { allow: "GET" });
  const digest = address.exec(request.url ?? "")?.[1];
  const found = digest === undefined ? null : await find(digest);
  // The open file stays what it is, whoever removes or replaces its name meanwhile.
  const file = found === null ? null : await open(found.path).catch(() => null);
  if (found === null || file === null) return refuse(response, 404);
  try {
    const { size } = await file.stat();
    const etag = `"${found.state}-${size}"`;
    const headers = { etag, "accept-ranges": "bytes", [stateHeader]: found.state };
    const onlyIf = request.headers["if-range"];
    const range = onlyIf === undefined || onlyIf === etag ? rangeOf(request.headers.range, size) : null;
    if (range === "unsatisfiable")
      return refuse(response, 416, { ...headers, "content-range": `bytes */${size}` });
    const { first, last } = range ?? { first: 0, last: size - 1 };
    response.writeHead(range === null ? 200 : 206, {
      ...headers,
      "content-type": "application/octet-stream",
      "content-length": last - first + 1,
      ...(range === null ? {} : { "content-range": `bytes ${first}-${last}/${size}` }),
    });
    const bytes = file.createReadStream({ start: first, end: last, autoClose: false });
    await pipeline(bytes, response, { signal: AbortSignal.timeout(transferMs) });
    return true;
  } finally {
    await file.close();
  }
}

function refuse(response: ServerResponse, status: number, headers: Record<string, string> = {}): false {
  response.writeHead(status, { ...headers, "content-length": 0 });
  response.end();
  return false;
}
