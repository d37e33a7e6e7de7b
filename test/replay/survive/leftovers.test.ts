import { spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { basename, dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { check, recover } from "../../../src/replay/index.js";
import { until } from "../../support/wire-server.js";
import { cutBundle, finishedBundle } from "../support/finished.js";
import { filesOf, recordedEcho, recorder, scratch } from "../support/recording.js";

describe("what a killed writer leaves beside its bundles", () => {
  it("goes with replay recover, whatever it is, and nothing else does", async () => {
    const { folder, path } = await finishedBundle();
    const dead = await ownerLike("dead");
    const before = filesOf(folder);
    const theirs = ["notes.tmp", "scans/work.lock", ".state-of-the-art", "deep/er/a.skn.tmp"];
    for (const name of theirs) put(join(folder, name), dead);
    const left = [
      ...state(folder, dead),
      ...state(folder, dead, ".tmp.17.0"),
      put(`${path}.tmp`, "half a copy"),
      put(`${path}.${randomUUID()}.tmp`, dead),
      put(`${path}.lock.0123456789abcdef.tmp`, dead),
      put(join(dirname(path), "20990101T000000-never-made.skn.lock"), dead),
      put(join(folder, "prune.lock"), dead),
      put(join(folder, `prune.${randomUUID()}.tmp`), dead),
      put(join(folder, "index.jsonl.tmp"), "{}"),
      old(put(join(folder, "blobs/ab", `${hash("a")}.17-01234567.tmp`), "half")),
    ];
    await recover(folder);
    expect(left.filter((each) => existsSync(each))).toEqual([]);
    expect(filesOf(folder)).toEqual([...before, ...theirs.map((name) => join(folder, name))].sort());
    expect(await check(folder)).toMatchObject([{ status: "whole" }]);
  });

  it("goes when a later recorder opens the folder, also one that nobody prunes", async () => {
    const { folder, path } = await cutBundle();
    const dead = await ownerLike("dead");
    const left = [...state(folder, dead), put(`${path}.tmp`, "half a copy")];
    const into = recorder({ folder });
    const environment = recordedEcho(into);
    await environment.reset();
    await until(() => left.every((each) => !existsSync(each)));
    await environment.close();
    expect(await recover(path)).toMatchObject([{ status: "recovered" }]);
  });

  it("stays while its owner lives, or cannot be asked and was at it of late", async () => {
    const { folder, path } = await finishedBundle();
    const living = await ownerLike("living");
    const elsewhere = JSON.stringify({ pid: 1, started: "1", place: "another host" });
    const kept = [
      ...state(folder, living),
      ...state(folder, elsewhere),
      put(join(folder, `.state-${randomUUID()}`), "by a program that took no states"),
      put(`${path}.tmp`, "half a copy"),
      put(`${path}.lock`, living),
      put(join(folder, `prune.${randomUUID()}.tmp`), living),
      put(join(dirname(path), "20990101T000000-being-made.skn.lock"), living),
      put(join(folder, "prune.lock"), living),
      put(join(folder, "index.jsonl.tmp"), "{}"),
      put(join(folder, "blobs/ab", `${hash("a")}.17-01234567.tmp`), "half"),
      put(join(folder, "blobs/ab", `${hash("b")}.pruned.tmp`), "b"),
    ];
    await recover(folder);
    expect(kept.filter((each) => !existsSync(each))).toEqual([]);
  });

  it("comes back where it is content that a pruning was about to remove", async () => {
    const { folder } = await finishedBundle();
    const [blob = ""] = filesOf(join(folder, "blobs"));
    const content = readFileSync(blob);
    rmSync(blob);
    put(`${blob}.pruned.tmp`, content);
    expect(await check(folder)).toMatchObject([{ status: "incomplete" }]);
    await recover(folder);
    expect(await check(folder)).toMatchObject([{ status: "whole" }]);
    expect(filesOf(dirname(blob)).map((each) => basename(each))).toEqual([basename(blob)]);
  });
});

describe("a recorder that is closed while it prunes", () => {
  it("leaves no lock, and an index of what is there", async () => {
    const folder = scratch();
    await play(folder, undefined, 300);
    for (const each of filesOf(folder)) old(each);
    // Whatever the pruning has got to by then.
    for (let round = 0; round < 3; round += 1) await play(folder, 10_000, 1);
    expect(filesOf(folder).filter((each) => /\.(lock|tmp)$/.test(each))).toEqual([]);
    expect((await check(folder)).filter(({ status }) => status !== "whole")).toEqual([]);
  });
});

async function play(folder: string, budgetBytes: number | undefined, episodes: number): Promise<void> {
  const into = recorder({ folder, budgetBytes });
  const environment = recordedEcho(into);
  for (let episode = 0; episode < episodes; episode += 1) await environment.reset();
  await environment.close();
  await into.close();
}

function put(path: string, content: string | Uint8Array): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

/** Two files: a machine on its way into a bundle, and whose it is. */
function state(folder: string, owner: string, draft = ""): string[] {
  const path = join(folder, `.state-${randomUUID()}`);
  return [put(`${path}${draft}`, "pages"), put(`${path}.lock`, owner)];
}

/** As if it had rested for a day and more. */
function old(path: string): string {
  const then = Date.now() / 1_000 - 25 * 3600;
  utimesSync(path, then, then);
  return path;
}

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");

/** What a lock says of a process: of this one, or of a player that was killed. */
async function ownerLike(how: "living" | "dead"): Promise<string> {
  if (how === "living") {
    const into = recorder();
    const environment = recordedEcho(into);
    await environment.reset();
    onTestFinished(() => environment.close());
    const lock = join(into.folder, `${environment.bundle?.file ?? ""}.lock`);
    await until(() => existsSync(lock));
    return readFileSync(lock, "utf8");
  }
  const folder = scratch();
  const player = spawn(process.execPath, [join(import.meta.dirname, "../support/player.mjs"), folder, "1"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(player, "exit");
  const [said] = (await once(player.stdout, "data")) as [Buffer];
  const file = said.toString("utf8").split(" ")[0] ?? "";
  await until(() => existsSync(join(folder, `${file}.lock`)));
  const lock = readFileSync(join(folder, `${file}.lock`), "utf8");
  player.kill("SIGKILL");
  await ended;
  return lock;
}
