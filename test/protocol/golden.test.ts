/**
 * Golden frames: what version 1 of the protocol looks like to the byte, in both encodings. The Python tests read the
 * same files. `UPDATE_GOLDEN=1 npx vitest run test/protocol` writes them anew: a change is a change of the protocol.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { EchoEnvironment } from "../../src/env/echo.js";
import { parseRequest } from "../../src/server/requests.js";
import type { RunningServer } from "../../src/server/index.js";
import { decodeMessage, type Encoding, encodeMessage } from "../../src/wire/index.js";
import { start, stopAll } from "../support/wire-server.js";
import { conversation, events, golden, goldenFolder, goldenNames } from "./frames.js";

const encodings: Encoding[] = ["json", "msgpack"];
const update = process.env["UPDATE_GOLDEN"] === "1";

function frameOf(message: unknown, encoding: Encoding): Buffer {
  const frame = encodeMessage(message, encoding);
  return typeof frame === "string" ? Buffer.from(frame) : Buffer.from(frame);
}

function startEcho(): Promise<RunningServer> {
  let made = 0;
  return start({
    makeEcho: () => new EchoEnvironment(),
    serverName: "shinken-gym/golden",
    newToken: () => `token-${++made}`,
  });
}

/** Sends the conversation's requests one by one and gives the reply frames as they came. */
async function converse(encoding: Encoding): Promise<Record<string, Buffer>> {
  const server = await startEcho();
  const ws = new WebSocket(server.url);
  await new Promise((resolve) => ws.on("open", resolve));
  const replies: Record<string, Buffer> = {};
  for (const [name, request] of Object.entries(conversation)) {
    const reply = new Promise<Buffer>((resolve) => {
      const listen = (data: WebSocket.RawData) => {
        const message = decodeMessage(data as Buffer, encoding);
        // Events may come before the reply.
        if ("event" in (message as object)) return;
        ws.off("message", listen);
        resolve(data as Buffer);
      };
      ws.on("message", listen);
    });
    const frame = frameOf(request, encoding);
    ws.send(encoding === "json" ? frame.toString() : frame);
    replies[`${name}.reply`] = await reply;
  }
  ws.terminate();
  return replies;
}

const replies = {} as Record<Encoding, Record<string, Buffer>>;

beforeAll(async () => {
  for (const encoding of encodings) replies[encoding] = await converse(encoding);
  if (!update) return;
  mkdirSync(goldenFolder, { recursive: true });
  for (const encoding of encodings) {
    const frames: Record<string, Buffer> = { ...replies[encoding] };
    for (const [name, message] of Object.entries(conversation))
      frames[`${name}.request`] = frameOf(message, encoding);
    for (const [name, message] of Object.entries(events)) frames[name] = frameOf(message, encoding);
    for (const [name, frame] of Object.entries(frames))
      writeFileSync(join(goldenFolder, `${name}.${encoding}`), frame);
  }
});
afterAll(stopAll);

describe("the golden frames", () => {
  it("are those of the conversation and the events, and no others", () => {
    const expected = [
      ...Object.keys(conversation).flatMap((name) => [`${name}.reply`, `${name}.request`]),
      ...Object.keys(events),
    ];
    expect(goldenNames()).toEqual(expected.sort());
  });

  it("say the same in both encodings", () => {
    for (const name of goldenNames()) {
      const { json, msgpack } = golden(name);
      expect(decodeMessage(json, "json"), name).toEqual(decodeMessage(msgpack, "msgpack"));
    }
  });

  it("come out of the encoder to the byte", () => {
    for (const name of goldenNames()) {
      const message = decodeMessage(golden(name).json, "json");
      for (const encoding of encodings)
        expect(frameOf(message, encoding), `${name}.${encoding}`).toEqual(golden(name)[encoding]);
    }
  });

  it("hold requests that the server parses, save the two that are misspelt", () => {
    const refused = goldenNames()
      .filter((name) => name.endsWith(".request"))
      .filter((name) => {
        try {
          parseRequest(decodeMessage(golden(name).msgpack, "msgpack"));
          return false;
        } catch {
          return true;
        }
      });
    expect(refused).toEqual(["10-misspelt-key.request", "11-misspelt-operation.request"]);
  });

  it.each(encodings)("are what a server answers over %s, to the byte", (encoding) => {
    for (const [name, frame] of Object.entries(replies[encoding])) {
      expect(frame.toString("latin1"), name).toBe(golden(name)[encoding].toString("latin1"));
    }
  });
});
