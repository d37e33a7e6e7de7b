import { userInfo } from "node:os";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { inputHighWater, stdinWindow } from "../../src/sandbox/agent/command.js";
import { AgentClient } from "../../src/sandbox/agent/index.js";
import { buildHostAgent, ProcessTransport } from "./process-transport.js";

const user = userInfo().username;
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const bytes = (words: string): Uint8Array => new TextEncoder().encode(words);

let path: string;
let transport: ProcessTransport;
let agent: AgentClient;

beforeAll(() => {
  path = buildHostAgent();
});
beforeEach(() => {
  transport = new ProcessTransport(path);
  agent = new AgentClient(transport);
});
afterEach(async () => {
  await transport.close();
  expect(transport.complaints).toBe("");
});

describe("a streamed command", () => {
  it("answers line by line to what is written to it", async () => {
    const stream = agent.stream({
      argv: ["sh", "-c", 'while read line; do echo "got $line"; done; exit 3'],
      user,
    });
    const heard: string[] = [];
    stream.onOutput((_channel, chunk) => {
      heard.push(text(chunk));
      if (heard.length === 1) stream.write(bytes("two\n"));
      else stream.end();
    });
    stream.write(bytes("one\n"));
    expect(await stream.done).toMatchObject({ exitCode: 3 });
    expect(heard).toEqual(["got one\n", "got two\n"]);
  });

  it("delivers far more than its window, complete and in order", async () => {
    const stream = agent.stream({ argv: ["seq", "1", "400000"], user, stdin: "" });
    const parts: Uint8Array[] = [];
    stream.onOutput((_channel, chunk) => parts.push(chunk));
    expect(await stream.done).toMatchObject({ exitCode: 0, stdoutDropped: 0 });
    const lines = Buffer.concat(parts).toString().trimEnd().split("\n");
    expect(lines).toHaveLength(400_000);
    expect(lines.every((line, index) => line === String(index + 1))).toBe(true);
  });

  it("passes far more than its window to its input", async () => {
    const stream = agent.stream({ argv: ["wc", "-c"], user });
    let answer = "";
    stream.onOutput((_channel, chunk) => {
      answer += text(chunk);
    });
    for (let i = 0; i < 50; i++) stream.write(new Uint8Array(20_000));
    stream.end();
    await stream.done;
    expect(answer.trim()).toBe("1000000");
  });

  it("asks its writer to wait when much is unread, and to go on when the command has read", async () => {
    const stream = agent.stream({ argv: ["wc", "-c"], user });
    let answer = "";
    stream.onOutput((_channel, chunk) => {
      answer += text(chunk);
    });
    const piece = new Uint8Array(60_000);
    let [written, waits] = [0, 0];
    const fill = (): void => {
      const before = written;
      for (let more = true; more; written += piece.length) more = stream.write(piece);
      expect(written - before).toBeLessThanOrEqual(inputHighWater + stdinWindow + piece.length);
      waits += 1;
    };
    stream.onDrain(() => {
      if (written < 8_000_000) fill();
      else stream.end();
    });
    fill();
    expect(stream.write(piece)).toBe(false);
    written += piece.length;
    expect(await stream.done).toMatchObject({ exitCode: 0 });
    expect(Number(answer)).toBe(written);
    expect(waits).toBeGreaterThan(5);
  });

  it("tells standard error from standard output", async () => {
    const stream = agent.stream({ argv: ["sh", "-c", "echo bad >&2"], user, stdin: "" });
    const heard: string[] = [];
    stream.onOutput((channel, chunk) => heard.push(`${channel}: ${text(chunk)}`));
    await stream.done;
    expect(heard).toEqual(["stderr: bad\n"]);
  });

  it("ends when it is killed, also before its turn has come", async () => {
    const first = agent.stream({ argv: ["sleep", "1000"], user });
    const second = agent.stream({ argv: ["sleep", "1000"], user });
    second.kill();
    setTimeout(() => first.kill(), 50);
    expect(await first.done).toMatchObject({ signal: 9 });
    expect(await second.done).toMatchObject({ signal: 9 });
  });

  it("rejects when the program is not there", async () => {
    await expect(agent.stream({ argv: ["no-such-program"], user }).done).rejects.toMatchObject({
      errno: "ENOENT",
    });
  });

  it("has a terminal of the size that was asked for and follows its changes", async () => {
    const terminal = { columns: 101, rows: 31 };
    const stream = agent.stream({ argv: ["sh", "-c", "stty size; read x; stty size"], user }, { terminal });
    let heard = "";
    stream.onOutput((_channel, chunk) => {
      heard += text(chunk);
      if (heard === "31 101\r\n") {
        stream.resize(90, 20);
        stream.write(bytes("\n"));
      }
    });
    expect(await stream.done).toMatchObject({ exitCode: 0 });
    expect(heard).toContain("20 90\r\n");
  });

  it("ends its terminal's input with end of file", async () => {
    const stream = agent.stream({ argv: ["cat"], user }, { terminal: { columns: 80, rows: 24 } });
    stream.write(bytes("hello\n"));
    stream.end();
    expect(await stream.done).toMatchObject({ exitCode: 0 });
  });
});

describe("a dialogue", () => {
  const shell = { argv: ["sh"], user };
  const ask = (script: string, mark: string): string => `${script}\nprintf '${mark} %s %s\\n' "$?" "$PWD"\n`;

  it("keeps its folder and variables from one request to the next", async () => {
    const dialogue = await agent.dialogue(shell);
    const first = await dialogue.ask(ask("cd /usr; X=42; echo hi", "\u0001A"), { marker: "\u0001A" });
    expect({ ...first, output: text(first.output) }).toEqual({
      output: "hi\n",
      dropped: 0,
      reason: "matched",
      line: " 0 /usr",
    });
    const second = await dialogue.ask(ask("echo $X; false", "\u0001B"), { marker: "\u0001B" });
    expect({ ...second, output: text(second.output) }).toMatchObject({ output: "42\n", line: " 1 /usr" });
    await dialogue.close();
  });

  it("lets other requests through while it stays open", async () => {
    const [a, b] = [await agent.dialogue(shell), await agent.dialogue(shell)];
    await a.ask(ask("V=a", "\u0001A"), { marker: "\u0001A" });
    await b.ask(ask("V=b", "\u0001A"), { marker: "\u0001A" });
    expect(await agent.exec({ argv: ["true"], user })).toMatchObject({ exitCode: 0 });
    expect(text((await a.ask(ask("echo $V", "\u0001B"), { marker: "\u0001B" })).output)).toBe("a\n");
    expect(text((await b.ask(ask("echo $V", "\u0001B"), { marker: "\u0001B" })).output)).toBe("b\n");
    await Promise.all([a.close(), b.close()]);
  });

  it("has standard error in its output", async () => {
    const dialogue = await agent.dialogue(shell);
    const reply = await dialogue.ask(ask("echo out; echo err >&2", "\u0001A"), { marker: "\u0001A" });
    expect(text(reply.output)).toBe("out\nerr\n");
    await dialogue.close();
  });

  it("finds its marker among output that looks like it, wherever the pipe cuts", async () => {
    const dialogue = await agent.dialogue(shell);
    const script =
      "for part in '\u0001' '\u0001M' '\u0001\u0001MA' 'MARK' '\u0001MAR'; do printf %s \"$part\"; sleep 0.02; done";
    const reply = await dialogue.ask(`${script}; printf '\u0001MA'; sleep 0.02; printf 'RK done\\n'\n`, {
      marker: "\u0001MARK",
    });
    expect(text(reply.output)).toBe("\u0001\u0001M\u0001\u0001MAMARK\u0001MAR");
    expect(reply.line).toBe(" done");
    await dialogue.close();
  });

  it("drops output beyond the limit but still finds the marker", async () => {
    const dialogue = await agent.dialogue(shell);
    const options = { marker: "\u0001A", maxOutputBytes: 10 };
    const reply = await dialogue.ask(ask("seq 1 100000", "\u0001A"), options);
    expect({ ...reply, output: text(reply.output) }).toMatchObject({
      output: "1\n2\n3\n4\n5\n",
      dropped: 588_885,
      reason: "matched",
    });
    await dialogue.close();
  });

  it("goes on after it ran out of time, and after an interrupt", async () => {
    const dialogue = await agent.dialogue(shell);
    await dialogue.ask(ask("trap : INT", "\u0001A"), { marker: "\u0001A" });
    const late = await dialogue.ask(ask("echo begun; sleep 1000", "\u0001B"), {
      marker: "\u0001B",
      timeoutMs: 100,
    });
    expect({ ...late, output: text(late.output) }).toMatchObject({ output: "begun\n", reason: "timeout" });
    expect(dialogue.ended).toBe(false);
    await dialogue.signal(2);
    const next = await dialogue.ask(ask("echo here", "\u0001C"), { marker: "\u0001C" });
    expect(text(next.output)).toContain("here\n");
    await dialogue.close();
  });

  it("refuses input beyond what may be in flight, and goes on", async () => {
    const dialogue = await agent.dialogue(shell);
    const document = (lines: number) =>
      `cat <<'END' | wc -l\n${"x".repeat(99).concat("\n").repeat(lines)}END\n`;
    const tooLong = dialogue.ask(ask(document(3000), "\u0001A"), { marker: "\u0001A" });
    await expect(tooLong).rejects.toMatchObject({ code: "too_large" });
    const reply = await dialogue.ask(ask(document(2000), "\u0001B"), { marker: "\u0001B" });
    expect(text(reply.output).trim()).toBe("2000");
    await dialogue.close();
  });

  it("says when its program has ended, during a request or between two", async () => {
    const first = await agent.dialogue(shell);
    const reply = await first.ask("echo bye; exit 4\n", { marker: "\u0001A" });
    expect({ ...reply, output: text(reply.output) }).toMatchObject({ output: "bye\n", reason: "ended" });
    expect(first.ended).toBe(true);
    const second = await agent.dialogue({ argv: ["sh", "-c", "sleep 0.1"], user });
    await agent.wait(400);
    expect(await second.ask("x\n", { marker: "\u0001A" })).toMatchObject({ reason: "ended" });
    await Promise.all([first.close(), second.close()]);
  });

  it("rejects at once when its program is not there, or a marker cannot be looked for", async () => {
    await expect(agent.dialogue({ argv: ["no-such-program"], user })).rejects.toMatchObject({
      errno: "ENOENT",
    });
    const dialogue = await agent.dialogue(shell);
    for (const marker of ["", "x", "aba", "y".repeat(65)])
      await expect(dialogue.ask("", { marker })).rejects.toMatchObject({ code: "bad_request" });
    await dialogue.close();
  });

  it("kills what it started when it is closed", async () => {
    const dialogue = await agent.dialogue(shell);
    await dialogue.ask(ask("sleep 98.65 &", "\u0001A"), { marker: "\u0001A" });
    await dialogue.close();
    await dialogue.close();
    await agent.wait(300);
    const left = (await agent.processes()).map((one) => one.argv.join(" "));
    expect(left).not.toContain("sleep 98.65");
  });

  it("may be open sixty-three times at once, and the next is refused", async () => {
    const open = [];
    for (let i = 0; i < 63; i++) open.push(await agent.dialogue({ argv: ["cat"], user }));
    // The request that settles the opening needs a place too, so the last one is taken by it.
    const last = await agent.dialogue({ argv: ["cat"], user });
    await expect(last.ask("x\n", { marker: "x\n" })).rejects.toMatchObject({ errno: "EMFILE" });
    for (const dialogue of [...open, last]) await dialogue.close();
    expect(await agent.exec({ argv: ["true"], user })).toMatchObject({ exitCode: 0 });
  });
});

describe("a request that is given up", () => {
  it("rejects with cancelled, and its command does not live on", async () => {
    const running = agent.exec({ argv: ["sleep", "97.54"], user });
    setTimeout(() => agent.cancel(), 50);
    await expect(running).rejects.toMatchObject({ code: "cancelled", retry: true });
    expect(await agent.exec({ argv: ["true"], user })).toMatchObject({ exitCode: 0 });
    await agent.wait(300);
    const left = (await agent.processes()).map((one) => one.argv.join(" "));
    expect(left).not.toContain("sleep 97.54");
  });

  it("rejects with machine_timeout when the wall-clock net catches it", async () => {
    const late = agent.exec({ argv: ["sleep", "97.53"], user }, {}, { wallMs: 50 });
    await expect(late).rejects.toMatchObject({ code: "machine_timeout" });
    await agent.wait(10, { wallMs: 5000 });
  });

  it("rejects with machine_died when the agent is killed in the middle of it", async () => {
    const running = agent.exec({ argv: ["sleep", "1"], user });
    setTimeout(() => transport.kill(), 50);
    await expect(running).rejects.toMatchObject({ code: "machine_died" });
  });
});
