/** Forks whose acknowledgement is lost, repeated or another's: killed, and counted by the reason. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isInfrastructure } from "../../src/errors/index.js";
import type { Golden } from "../../src/sandbox/sandbox.js";
import { replaceAgent } from "../support/fake-agent.js";
import { machinesUnavailable, microvm, providerForFile, TEST_IMAGE } from "../support/machine.js";

const unavailable = await machinesUnavailable();
const provider = providerForFile();

/** Waits for the fork packet, then answers with `answers` (Python, a list of frames). */
const answering = (answers: string): string => `
stream, kind, op, payload = request()
at = payload.index(b"generation\\xc4\\x10") + 12
mine, zeros, fresh = payload[at:at + 16], bytes(16), os.urandom(32)
for answer in ${answers}: write(answer)
while True: request()
`;
const honest = "frame(stream, 2, FINAL, payload=acknowledgement(mine, fresh))";

describe.skipIf(unavailable !== null)("a fork whose acknowledgement", () => {
  let image: Golden;

  beforeAll(async () => {
    image = await provider().imageGolden(TEST_IMAGE);
  });
  afterAll(() => {
    image.close();
  });

  /** A golden whose agent answers so. */
  async function goldenWith(answers: string): Promise<Golden> {
    const machine = microvm(await image.fork());
    await replaceAgent(machine, answering(answers));
    const golden = await machine.freeze({ image: "", setup: "", seed: "", memoryMiB: 512 });
    await machine.close();
    return golden;
  }

  it("is its own is let in, whoever wrote it", async () => {
    const golden = await goldenWith(`[${honest}]`);
    const forks = [await golden.fork(), await golden.fork()];
    for (const fork of forks) await fork.close();
    golden.close();
  });

  it.each([
    ["is lost", "lost", "[]", /not answer in time/],
    ["comes twice", "repeated", `[${honest}, ${honest}]`, /second reply on stream/],
    [
      "is of another generation",
      "repeated",
      "[frame(stream, 2, FINAL, payload=acknowledgement(zeros, fresh))]",
      /another generation/,
    ],
    [
      "says that a step failed",
      "refused",
      `[frame(stream, 2, FINAL | 4, payload=b"\\x82" + text("code") + text("EIO") + text("where") + text("seed"))]`,
      /'seed': EIO/,
    ],
    ["is no frame", "repeated", "[bytes([255] * 64)]", /frame/],
  ] as const)("%s is killed and counted", async (_what, reason, answers, message) => {
    const golden = await goldenWith(answers);
    const [before, open] = [provider().killedForks(), provider().openMachines()];
    const failure: unknown = await golden.fork().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "fork_failed", message: expect.stringMatching(message) as string });
    expect(isInfrastructure(failure)).toBe(true);
    expect(provider().killedForks()).toEqual({ ...before, [reason]: before[reason] + 1 });
    expect(provider().openMachines()).toBe(open);
    golden.close();
  });

  it("shows the numbers of a sibling is killed and counted; the sibling stays", async () => {
    const golden = await goldenWith("[frame(stream, 2, FINAL, payload=acknowledgement(mine, bytes(32)))]");
    const before = provider().killedForks();
    const first = await golden.fork();
    for (let i = 1; i <= 2; i++) {
      await expect(golden.fork()).rejects.toMatchObject({
        code: "fork_failed",
        message: expect.stringContaining("same random numbers") as string,
      });
      expect(provider().killedForks().repeated).toBe(before.repeated + i);
    }
    expect(first.closed).toBe(false);
    await first.close();
    golden.close();
  });
});
