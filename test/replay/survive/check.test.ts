import { copyFileSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { check } from "../../../src/replay/index.js";
import { cli } from "../../support/cli.js";
import { finishedBundle } from "../support/finished.js";
import { filesOf } from "../support/recording.js";

describe("replay check", () => {
  it("finds content that is missing or damaged, and bundles that are missing, cut off or not told of", async () => {
    const { folder, path, file } = await finishedBundle();
    const blob = filesOf(join(folder, "blobs"))[0] ?? "";
    const content = readFileSync(blob);
    writeFileSync(blob, Buffer.concat([content.subarray(0, -3), Buffer.from("xyz")]));
    expect(await check(path)).toMatchObject([
      { status: "incomplete", blobs: [{ sha256: basename(blob), code: "bad_bundle" }] },
    ]);
    rmSync(blob);
    const { code, stdout } = await cli(["replay", "check", folder, "--json"]);
    expect([code, JSON.parse(stdout)]).toMatchObject([
      1,
      { ok: false, files: [{ status: "incomplete", blobs: [{ code: "blob_missing" }] }] },
    ]);
    writeFileSync(blob, content);
    const other = join(dirname(path), "other.skn");
    copyFileSync(path, other);
    truncateSync(path, statSync(path).size - 10);
    expect((await check(folder)).map(({ status }) => status).sort()).toEqual(["damaged", "unindexed"]);
    rmSync(path);
    expect(await check(folder)).toContainEqual(
      expect.objectContaining({ file: join(folder, file), status: "missing" }),
    );
  });
});
