/**
 * The only file that knows uWebSockets.js. It turns the library's callbacks into the small face below, so that
 * another build of the library, or another library, can take its place.
 *
 * What is handled here because the library does not: a port that somebody else already serves (by default it would be
 * shared in silence), compression (declined), and a payload limit above the protocol's own.
 */
import type * as Uws from "uWebSockets.js";
import { ShinkenError } from "../errors/index.js";

/** What a send did. `dropped` never happens while the caller honours `buffered()`. */
export type SendOutcome = "sent" | "buffered" | "dropped";

/** One open socket. Not to be used after `closed` was called. */
export interface Socket {
  send(message: string | Uint8Array): SendOutcome;
  /** Bytes that the library holds because the peer has not read them. */
  buffered(): number;
  /** Sends made inside `work` leave in one piece. */
  cork(work: () => void): void;
  /** Closes with a code and a reason; `closed` is called before it returns. */
  end(code: number, reason: string): void;
}

/** What the owner of a connection does with it. `bytes` are valid only during the call. */
export interface SocketHandler {
  message(bytes: Uint8Array, binary: boolean): void;
  drain(): void;
  closed(): void;
}

export interface HttpReply {
  status: string;
  type: string;
  body: string;
}

/** A request as far as we look at it; header names in lower case. */
export interface HttpRequest {
  path: string;
  header(name: string): string;
}

export interface ListenOptions {
  host: string;
  /** 0: any free port. */
  port: number;
  /** Path on which WebSockets are accepted. */
  path: string;
  /** Largest message that the transport lets through; beyond it the socket dies without a word. */
  maxPayloadBytes: number;
  /** Bytes that the transport may buffer for a socket before it drops. */
  maxBufferedBytes: number;
  /** A refusal, or undefined to accept the upgrade. */
  admit(request: HttpRequest): HttpReply | undefined;
  open(socket: Socket): SocketHandler;
  get(request: HttpRequest): Promise<HttpReply> | HttpReply;
}

export interface Listener {
  port: number;
  /** Takes no further connections; open ones live on. */
  stop(): void;
  /** As `stop`, and closes every socket. */
  close(): void;
}

interface SocketData {
  handler: SocketHandler | undefined;
}

const sendOutcomes: readonly SendOutcome[] = ["buffered", "sent", "dropped"];

/** Seconds without a sign of life (the library pings by itself) after which a socket is closed. */
const idleTimeoutSeconds = 120;

/** Listens; rejects with `host_unsupported` where the library has no build, or the address is taken. */
export async function listen(options: ListenOptions): Promise<Listener> {
  const uws = await load();
  const app = uws.App();

  app.ws<SocketData>(options.path, {
    compression: uws.DISABLED,
    maxPayloadLength: options.maxPayloadBytes,
    maxBackpressure: options.maxBufferedBytes,
    idleTimeout: idleTimeoutSeconds,
    sendPingsAutomatically: true,
    upgrade(response, request, context) {
      const refusal = options.admit(asRequest(request));
      if (refusal !== undefined) {
        write(response, refusal);
        return;
      }
      response.upgrade<SocketData>(
        { handler: undefined },
        request.getHeader("sec-websocket-key"),
        request.getHeader("sec-websocket-protocol"),
        "",
        context,
      );
    },
    open(ws) {
      ws.getUserData().handler = options.open(asSocket(ws));
    },
    message(ws, message, binary) {
      ws.getUserData().handler?.message(new Uint8Array(message), binary);
    },
    drain(ws) {
      ws.getUserData().handler?.drain();
    },
    close(ws) {
      ws.getUserData().handler?.closed();
    },
  });

  app.get("/*", (response, request) => {
    let aborted = false;
    response.onAborted(() => {
      aborted = true;
    });
    const result = options.get(asRequest(request));
    if (!(result instanceof Promise)) {
      write(response, result);
      return;
    }
    const failed: HttpReply = { status: "500 Internal Server Error", type: "text/plain", body: "internal\n" };
    void result
      .catch(() => failed)
      .then((reply) => {
        if (!aborted) response.cork(() => write(response, reply));
      });
  });
  app.any("/*", (response) => {
    write(response, { status: "405 Method Not Allowed", type: "text/plain", body: "only GET is served\n" });
  });

  const handle = await new Promise<Uws.us_listen_socket | false>((resolve) => {
    // The typings know the form with options only without a host; the library takes both.
    const listenOn = app.listen.bind(app) as unknown as (
      host: string,
      port: number,
      listenOptions: number,
      callback: (socket: Uws.us_listen_socket | false) => void,
    ) => void;
    listenOn(options.host, options.port, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, resolve);
  });
  if (handle === false) {
    throw new ShinkenError("host_unsupported", `cannot listen on ${options.host} port ${options.port}`, {
      suggestion: "the port may be taken: choose another one, or 0 for any free one",
    });
  }

  let listening = true;
  const stop = () => {
    if (listening) uws.us_listen_socket_close(handle);
    listening = false;
  };
  return {
    port: uws.us_socket_local_port(handle),
    stop,
    close() {
      stop();
      app.close();
    },
  };
}

type UwsModule = typeof Uws & { LIBUS_LISTEN_EXCLUSIVE_PORT: number };

async function load(): Promise<UwsModule> {
  try {
    const module = (await import("uWebSockets.js")) as unknown as { default: UwsModule };
    return module.default;
  } catch (cause) {
    throw new ShinkenError(
      "host_unsupported",
      `uWebSockets.js has no build for Node ${process.version} on this host`,
      {
        suggestion: "use an LTS release of Node on glibc Linux, macOS or Windows",
        cause,
      },
    );
  }
}

function asSocket(ws: Uws.WebSocket<SocketData>): Socket {
  return {
    send: (message) => sendOutcomes[ws.send(message, typeof message !== "string", false)] ?? "dropped",
    buffered: () => ws.getBufferedAmount(),
    cork: (work) => {
      ws.cork(work);
    },
    end: (code, reason) => {
      ws.end(code, reason);
    },
  };
}

function asRequest(request: Uws.HttpRequest): HttpRequest {
  return { path: request.getUrl(), header: (name) => request.getHeader(name) };
}

function write(response: Uws.HttpResponse, reply: HttpReply): void {
  response.writeStatus(reply.status);
  response.writeHeader("Content-Type", reply.type);
  response.writeHeader("Cache-Control", "no-store");
  response.end(reply.body);
}
