import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readBundle } from "../../src/replay/index.js";
import { sknVersion } from "../../src/replay/format/version.js";
import { bundleFile, golden } from "../conformance/skn/files.js";
import { versionZero } from "../conformance/skn/old.js";
import { scratch } from "./support/recording.js";

describe("a bundle of version 0", () => {
  it("is read as the present version has it", async () => {
    const { session, steps, end } = await readBundle(bundleFile("version-0"));
    expect(end.version).toBe(0);
    expect(session).toMatchObject({
      skn: sknVersion,
      t_wall: 1_700_000_000_250,
      t_guest: null,
      parent: null,
      labels: {},
    });
    expect(session).not.toHaveProperty("t");
    expect(steps[0]?.rewards).toEqual([
      {
        channel: "reward",
        seq: 1,
        step: 1,
        t_wall: 1_700_000_001_001,
        t_guest: null,
        reward: 0.5,
        check: null,
        unknown: "kept",
      },
    ]);
    expect(steps[0]?.others).toMatchObject([{ channel: "marker", kind: "ended", t_wall: 1_700_000_002_000 }]);
  });

  it("is still what the script in the conformance folder writes", async () => {
    const file = join(scratch(), "old.skn");
    writeFileSync(file, versionZero());
    expect((await readBundle(file)).end.sha256).toBe((await readBundle(bundleFile("version-0"))).end.sha256);
  });
});

describe("a bundle of a later version", () => {
  it("is refused, and what would read it is said", async () => {
    await expect(readBundle(join(golden, "hostile", "version-2.skn"))).rejects.toMatchObject({
      code: "unsupported_version",
      suggestion: "use a newer shinken",
    });
  });
});

describe("a bundle that is not there", () => {
  it.each(["none.skn", "."])("%s is a missing one", async (name) => {
    await expect(readBundle(join(scratch(), name))).rejects.toMatchObject({ code: "bundle_missing" });
  });
});
