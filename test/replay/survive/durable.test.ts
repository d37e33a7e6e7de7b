import { open } from "node:fs/promises";
import { readlinkSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { zstdReady } from "../../../src/replay/format/zstd.js";
import { BlobStore } from "../../../src/replay/write/blobs.js";
import { BundleState } from "../../../src/replay/write/bundle-state.js";
import { filesOf, scratch } from "../support/recording.js";

describe("a bundle that is finished", () => {
  it("has the disk keep the names of its file and its content, and then its line of the index", async () => {
    await zstdReady;
    const folder = scratch();
    const synced = await syncedPaths();
    const blobs = new BlobStore(folder);
    const bundle = begun(folder, blobs);
    bundle.add([1, "marker", 0, null, 1, undefined, { kind: "started", message: "long ".repeat(20_000) }]);
    bundle.flush();
    expect(synced).toEqual([]);
    await bundle.finish();
    const [blob = ""] = filesOf(join(folder, "blobs"));
    const prefix = `blobs/${basename(blob).slice(0, 2)}`;
    const told = synced.map((path) => relative(folder, path));
    expect(told.sort()).toEqual(["", "", "", "blobs", prefix, "index.jsonl", "task"].sort());
    expect(synced.lastIndexOf(join(folder, "index.jsonl"))).toBeGreaterThan(
      synced.indexOf(join(folder, "task")),
    );
  });

  it("waits for content that an earlier one is still waiting for", async () => {
    await zstdReady;
    const blobs = new BlobStore(scratch());
    blobs.put(Buffer.from("content"));
    const done: string[] = [];
    const first = blobs.sync().then(() => done.push("first"));
    const second = blobs.sync().then(() => done.push("second"));
    await Promise.all([first, second]);
    expect(done).toEqual(["first", "second"]);
  });
});

function begun(folder: string, blobs: BlobStore): BundleState {
  const secrets = { values: [], variables: [] };
  return new BundleState(
    { kind: "open", id: 1, folder, file: "task/a.skn", runtime: "test/1", secrets, session: 1 },
    blobs,
  );
}

/** Paths of what is synced through file handles from now on, in order. */
async function syncedPaths(): Promise<string[]> {
  const paths: string[] = [];
  const probe = await open(scratch(), "r");
  const handles = Object.getPrototypeOf(probe) as { sync: (this: { fd: number }) => Promise<void> };
  await probe.close();
  const sync = handles.sync;
  const spy = vi.spyOn(handles, "sync").mockImplementation(function (this: { fd: number }) {
    paths.push(readlinkSync(`/proc/self/fd/${this.fd}`));
    return sync.call(this);
  });
  onTestFinished(() => spy.mockRestore());
  return paths;
}
