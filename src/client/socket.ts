/** A WebSocket as the client needs one; the only file of the client that knows the `ws` package. */
import { Buffer } from "node:buffer";
import WebSocket from "ws";
import { ShinkenError } from "../errors/index.js";
import type { Encoding } from "../wire/index.js";

export interface ClientSocket {
  /** Sends a text frame for a string, else a binary one. The bytes may be reused afterwards. */
  send(message: string | Uint8Array): void;
  /** Closes; `onClose` follows. */
  close(): void;
  /** Kills the connection without a closing handshake. */
  terminate(): void;
}

export interface SocketEvents {
  onMessage(bytes: Uint8Array, encoding: Encoding): void;
  /** Called once, also when the server has gone without a word (code 1006). */
  onClose(code: number, reason: string): void;
}

export interface SocketOptions {
  token?: string | undefined;
  /** Milliseconds for the upgrade. */
  timeoutMs: number;
  maxMessageBytes: number;
}

/** Opens a socket; rejects with `unauthorized`, `server_draining`, or `connection_lost` for all else. */
export function openSocket(url: string, options: SocketOptions, events: SocketEvents): Promise<ClientSocket> {
  return new Promise((resolve, reject) => {
    const ws = new WebSocket(url, {
      headers: options.token === undefined ? {} : { Authorization: `Bearer ${options.token}` },
      perMessageDeflate: false,
      maxPayload: options.maxMessageBytes,
      handshakeTimeout: options.timeoutMs,
    });
    let opened = false;
    ws.on("open", () => {
      opened = true;
      resolve({
        // ws masks in place and may hold the bytes until the kernel takes them, so it gets a copy of shared ones.
        send: (message) => {
          ws.send(typeof message === "string" ? message : Buffer.from(message));
        },
        close: () => {
          ws.close(1000);
        },
        terminate: () => {
          ws.terminate();
        },
      });
    });
    ws.on("unexpected-response", (request, response) => {
      const status = response.statusCode ?? 0;
      response.resume();
      request.destroy();
      reject(
        status === 401 || status === 403
          ? new ShinkenError("unauthorized", `the server at ${url} wants a bearer token, and a right one`)
          : status === 503
            ? new ShinkenError("server_draining", `the server at ${url} takes no connections now`)
            : new ShinkenError("connection_lost", `${url} answered with HTTP status ${status}`),
      );
    });
    ws.on("message", (data, binary) => {
      events.onMessage(data as Buffer, binary ? "msgpack" : "json");
    });
    ws.on("error", (cause) => {
      if (!opened)
        reject(new ShinkenError("connection_lost", `cannot connect to ${url}: ${cause.message}`, { cause }));
    });
    ws.on("close", (code, reason) => {
      if (opened) events.onClose(code, reason.toString("utf8"));
    });
  });
}
