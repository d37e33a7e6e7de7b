import { beforeAll, describe, expect, it } from "vitest";
import { loadAddon } from "../../src/sandbox/microvm/addon.js";
import { findGolden, goldenFolder } from "../../src/sandbox/microvm/golden-folder.js";
import { MicrovmProvider } from "../../src/sandbox/microvm/provider.js";
import { machinesUnavailable, providerForFile, TEST_IMAGE } from "../support/machine.js";

const unavailable = await machinesUnavailable();
const provider = providerForFile();

describe.skipIf(unavailable !== null)("a golden that another process left on disk", () => {
  let key: string;
  beforeAll(async () => {
    const golden = await provider().imageGolden(TEST_IMAGE);
    key = golden.digest;
    golden.close();
  }, 300_000);

  it("names the blocks of its programs", async () => {
    const { path } = await findGolden(goldenFolder(), key);
    const { codeBlocks, version } = await loadAddon().inspectGolden({ path });
    expect(version).toBe(2);
    expect(codeBlocks).toBeGreaterThan(5000);
  });

  it("is taken without any machine having run, and its forks work", async () => {
    // No fork of it could become ready in no time at all.
    const hasty = new MicrovmProvider({ readyMs: 0 });
    const golden = await hasty.imageGolden(TEST_IMAGE);
    await expect(golden.fork()).rejects.toMatchObject({ code: "fork_failed" });
    golden.close();
    await hasty.close();

    const seed = new Uint8Array(32).fill(7);
    const digests = new Set<string>();
    for (let i = 0; i < 2; i++) {
      const other = new MicrovmProvider();
      const loaded = await other.imageGolden(TEST_IMAGE);
      const machine = await loaded.fork({ seed });
      expect((await machine.exec({ argv: ["sh", "-c", "echo $((6 * 7))"] })).exitCode).toBe(0);
      digests.add(await machine.digest());
      await machine.close();
      loaded.close();
      await other.close();
    }
    expect(digests.size).toBe(1);
  });
});
