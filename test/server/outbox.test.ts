import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Outbox } from "../../src/server/outbox.js";
import type { SendOutcome, Socket } from "../../src/server/uws.js";

/** A transport that buffers what its peer has not read, and drops like the real one when it is asked to. */
class FakeSocket implements Socket {
  readonly delivered: string[] = [];
  private held: string[] = [];
  dropping = false;
  reading = true;

  send(message: string | Uint8Array): SendOutcome {
    if (this.dropping) return "dropped";
    const text = typeof message === "string" ? message : Buffer.from(message).toString();
    if (this.reading && this.held.length === 0) {
      this.delivered.push(text);
      return "sent";
    }
    this.held.push(text);
    return "buffered";
  }

  buffered(): number {
    return this.held.reduce((sum, text) => sum + text.length, 0);
  }

  /** The peer reads everything that the transport holds. */
  flush(): void {
    this.delivered.push(...this.held.splice(0));
  }

  cork(work: () => void): void {
    work();
  }

  end(): void {}
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("the send queue", () => {
  it("delivers everything in order, however the peer reads", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ size: fc.nat(400_000), pause: fc.boolean(), drain: fc.boolean() }), {
          maxLength: 30,
        }),
        async (plan) => {
          const socket = new FakeSocket();
          const outbox = new Outbox(socket, 20_000_000, () => expect.unreachable());
          const sent: string[] = [];
          for (const [index, { size, pause, drain }] of plan.entries()) {
            socket.reading = !pause;
            const text = `${index}:${"x".repeat(size)}`;
            sent.push(text);
            outbox.send(index % 2 === 0 ? text : Buffer.from(text));
            if (drain) {
              socket.flush();
              outbox.drain();
              await settled();
            }
          }
          for (let round = 0; socket.delivered.length < sent.length && round < 100; round++) {
            socket.flush();
            outbox.drain();
            await settled();
          }
          expect(socket.delivered.map((text) => text.length)).toEqual(sent.map((text) => text.length));
          expect(socket.delivered).toEqual(sent);
        },
      ),
      { numRuns: 50 },
    );
  });

  it("keeps a copy of bytes that their owner uses again", async () => {
    const socket = new FakeSocket();
    socket.reading = false;
    const outbox = new Outbox(socket, 1_000_000, () => expect.unreachable());
    outbox.send("x".repeat(300_000));
    const shared = Buffer.from("first");
    outbox.send(shared);
    shared.write("other");
    socket.flush();
    outbox.drain();
    await settled();
    socket.flush();
    expect(socket.delivered[1]).toBe("first");
  });

  it("gives up a slow consumer once, and sends nothing more", () => {
    const socket = new FakeSocket();
    socket.reading = false;
    const faults: string[] = [];
    const outbox = new Outbox(socket, 1000, (fault) => faults.push(fault));
    outbox.send("x".repeat(300_000));
    outbox.send("x".repeat(900));
    expect(faults).toEqual([]);
    outbox.send("x".repeat(200));
    outbox.send("x");
    socket.flush();
    expect(faults).toEqual(["slow_consumer"]);
    expect(socket.delivered).toHaveLength(1);
  });

  it("reports a message that the transport dropped", () => {
    const socket = new FakeSocket();
    const faults: string[] = [];
    const outbox = new Outbox(socket, 1000, (fault) => faults.push(fault));
    socket.dropping = true;
    outbox.send("lost");
    outbox.send("never tried");
    expect(faults).toEqual(["dropped"]);
  });
});
