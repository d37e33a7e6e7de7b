/** Faults of other systems that show only on real machines: orphans, siblings that share a backend, agents that kill what serves them. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { loadAddon } from "../../../src/sandbox/microvm/addon.js";
import type { ShinkenError } from "../../../src/errors/index.js";
import type { Golden, Sandbox } from "../../../src/sandbox/sandbox.js";
import { closePool } from "../../../src/verifiers/index.js";
import { replaceAgent } from "../../support/fake-agent.js";
import { machinesUnavailable, microvm, providerForFile, TEST_IMAGE } from "../../support/machine.js";
import { gradeOn, run, sound } from "../isolation/support.js";

const unavailable = await machinesUnavailable();
const provider = providerForFile();
afterAll(() => closePool());

describe.skipIf(unavailable !== null)("on real machines", () => {
  let golden: Golden;
  const boxes: Sandbox[] = [];
  beforeAll(async () => {
    golden = await provider().imageGolden(TEST_IMAGE);
  });
  afterEach(async () => {
    for (const box of boxes.splice(0)) await box.close();
  });
  afterAll(() => {
    golden.close();
  });
  const seed = new Uint8Array(32);
  async function forked(): Promise<Sandbox> {
    const box = await golden.fork({ seed });
    boxes.push(box);
    return box;
  }

  it("webarena#161: replica A changes its database; B is to the bit what it was, and so is the next replica", async () => {
    const [a, b] = [await forked(), await forked()];
    const fresh = await b.digest();
    expect(await a.digest()).toBe(fresh);
    await run(a, "sqlite3 shop.db 'CREATE TABLE orders(n); INSERT INTO orders VALUES (1)'");
    expect(await a.digest()).not.toBe(fresh);
    expect(await b.digest()).toBe(fresh);
    expect(await (await forked()).digest()).toBe(fresh);
  });

  it("OpenHands#9810, #7373, tesseract-core#721: 64 creates at once that fail after the machine was made leave no orphan", async () => {
    const box = await forked();
    await replaceAgent(microvm(box), "\nwhile True: request()\n");
    const deaf = await box.freeze({ image: "", setup: "deaf", seed: "", memoryMiB: 512 });
    const before = loadAddon().engineStats().machines;
    const made = await Promise.allSettled(Array.from({ length: 64 }, () => deaf.fork()));
    expect(
      new Set(made.map((one) => one.status === "rejected" && (one.reason as ShinkenError).code)),
    ).toEqual(new Set(["fork_failed"]));
    expect(provider().openMachines()).toBe(1);
    expect(loadAddon().engineStats().machines).toBe(before);
    deaf.close();
  });

  it("osworld-v2-e2b: an agent without rights that kills all it can kills nobody who serves it, and is graded", async () => {
    const box = await forked();
    await run(box, "kill -9 -1 || true; pkill -9 . || true").catch(() => undefined);
    expect(await gradeOn(box, sound("graded"))).toMatchObject({ status: "graded", score: 1 });
  });

  it("osworld-v2-e2b: root that kills the machine's agent ends the machine: an infra failure, never a score of 0", async () => {
    const box = await forked();
    await expect(run(box, "kill -9 $(pgrep -x shinken-agent)", "root")).rejects.toMatchObject({
      code: "machine_died",
    });
    const verdict = await gradeOn(box, sound("never"));
    expect(verdict).toMatchObject({ status: "ungraded", score: null, passed: null });
    expect(verdict.reason).toContain("machine_died");
  });
});
