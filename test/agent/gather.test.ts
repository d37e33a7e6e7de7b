import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Op } from "../../src/sandbox/agent/frame.js";
import { AgentClient } from "../../src/sandbox/agent/index.js";
import type { ExchangeRequest } from "../../src/sandbox/agent/transport.js";
import { buildHostAgent, ProcessTransport } from "./process-transport.js";

/** Counts the exchanges that bring requests. */
class CountingTransport extends ProcessTransport {
  asked = 0;

  override exchange(
    request: ExchangeRequest,
    onFrame: (frame: Uint8Array) => void,
  ): Promise<{ reason: string }> {
    if (request.input.length > 0) this.asked += 1;
    return super.exchange(request, onFrame);
  }
}

/** An agent that knows neither looks nor command lines by themselves. */
class OlderAgentTransport extends ProcessTransport {
  override exchange(
    request: ExchangeRequest,
    onFrame: (frame: Uint8Array) => void,
  ): Promise<{ reason: string }> {
    const input = Buffer.from(request.input);
    for (let at = 0; at < input.length; at += headerBytes + input.readUInt32LE(at)) {
      if (input.readUInt16LE(at + opOffset) === Op.look) input.writeUInt16LE(unknownOp, at + opOffset);
    }
    const field = input.indexOf("argv");
    if (field !== -1) input.write("arg_", field);
    return super.exchange({ ...request, input }, onFrame);
  }
}

const headerBytes = 16;
const opOffset = 10;
const unknownOp = 4095;

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const names = Array.from({ length: 20 }, (_, index) => `file-${index}`);

let program: string;
let folder: string;
let transport: CountingTransport;
let agent: AgentClient;

beforeAll(() => {
  program = buildHostAgent();
  folder = mkdtempSync(join(tmpdir(), "shinken-gather-test-"));
  for (const name of names) writeFileSync(join(folder, name), name);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => {
  transport = new CountingTransport(program);
  agent = new AgentClient(transport, { gathers: true });
});
afterEach(async () => {
  await transport.close();
  expect(transport.complaints).toBe("");
});

describe("requests that only look", () => {
  it("share an exchange and keep their own answers", async () => {
    const answers = await Promise.all([
      ...names.map(async (name) => text(await agent.readFile(join(folder, name)))),
      agent.statIfExists(join(folder, "missing")),
      agent.stat(join(folder, "file-3")).then(({ size }) => size),
      agent.processes().then((list) => list.some(({ pid }) => pid === process.pid)),
    ]);
    expect(answers).toEqual([...names, null, "file-3".length, true]);
    expect(transport.asked).toBe(1);
  });

  it("find their own file, whatever folder the one before them was in", async () => {
    const inner = join(folder, "inner");
    mkdirSync(join(inner, "below"), { recursive: true });
    writeFileSync(join(inner, "file-0"), "inner");
    writeFileSync(join(inner, "below", "file-0"), "below");
    const looked = await Promise.all(
      [
        ...["file-0", "file-1", "file-2", "inner/file-0", "inner/nothing", "inner/file-0", "file-3"],
        ...["inner/below/file-0", "inner/below/../file-0", "inner/below/.", "inner/below/", "gone/file-0"],
        ...["gone/file-0", "gone/file-0", "file-4", "inner/below/..", "file-5"],
      ].map((name) => agent.look(`${folder}/${name}`)),
    );
    expect(looked.map((one) => (one?.bytes === undefined ? one?.stat.type : text(one.bytes)))).toEqual([
      ...["file-0", "file-1", "file-2", "inner", undefined, "inner", "file-3"],
      ...["below", "inner", "directory", "directory", undefined],
      ...[undefined, undefined, "file-4", "directory", "file-5"],
    ]);
    expect(transport.asked).toBe(1);
  });

  it("are answered by an older agent too, with what it can tell", async () => {
    const older = new OlderAgentTransport(program);
    const asked = new AgentClient(older, { gathers: true });
    const file = join(folder, "file-3");
    expect(await Promise.all([asked.look(file), asked.look(join(folder, "missing"))])).toEqual([
      { stat: await agent.stat(file) },
      null,
    ]);
    expect(await asked.commandLines()).toEqual(
      expect.arrayContaining([expect.objectContaining({ pid: process.pid })]),
    );
    await older.close();
    expect(older.complaints).toBe("");
  });

  it("fail each for itself", async () => {
    const [missing, present] = await Promise.allSettled([
      agent.readFile(join(folder, "missing")),
      agent.readFile(join(folder, "file-1")),
    ]);
    expect(missing).toMatchObject({ status: "rejected", reason: { code: "guest_error" } });
    expect(present).toMatchObject({ status: "fulfilled" });
    expect(transport.asked).toBe(1);
  });

  it("stay in their order around those that do more", async () => {
    const file = join(folder, "changing");
    writeFileSync(file, "before");
    const [before, , after] = await Promise.all([
      agent.readFile(file),
      agent.writeFile(file, "after", { user: userInfo().username }),
      agent.readFile(file),
    ]);
    expect([text(before), text(after)]).toEqual(["before", "after"]);
    expect(transport.asked).toBe(3);
  });

  it("give whole files, also those that are too large to be sent together", async () => {
    const sizes = [0, 1, 65_535, 65_536, 65_537, 1_000_000];
    const contents = sizes.map((size) => new Uint8Array(size).map((_, index) => index * 7));
    contents.forEach((bytes, index) => writeFileSync(join(folder, `sized-${index}`), bytes));
    const read = await Promise.all(
      contents.map((_, index) => agent.readFile(join(folder, `sized-${index}`))),
    );
    expect(read.map((bytes, index) => Buffer.compare(bytes, contents[index] as Uint8Array))).toEqual(
      sizes.map(() => 0),
    );
  });

  it("are served one by one on a link that does not gather", async () => {
    const plain = new AgentClient(transport);
    await Promise.all(names.map((name) => plain.stat(join(folder, name))));
    expect(transport.asked).toBe(names.length);
  });
});
