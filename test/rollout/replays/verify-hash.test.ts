import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { verifyBundles } from "../../../src/rollout/replays/index.js";
import { finishedBundle } from "../../replay/support/finished.js";

describe("replay verify", () => {
  it("does not run a bundle that was changed since it was finished, though it reads as a whole one", async () => {
    const { folder, path } = await finishedBundle();
    const index = join(folder, "index.jsonl");
    const line = JSON.parse(readFileSync(index, "utf8")) as { sha256: string };
    let opened = 0;
    const open = () => {
      opened += 1;
      return Promise.reject(new Error("no machine is wanted"));
    };
    const findings = () => verifyBundles({ files: [path], open, concurrency: 1 });
    writeFileSync(index, "");
    appendFileSync(index, `${JSON.stringify({ ...line, sha256: line.sha256.replace(/./g, "0") })}\n`);
    expect(await findings()).toMatchObject([{ outcome: "unusable", error: { code: "bad_bundle", path } }]);
    expect(opened).toBe(0);
  });
});
