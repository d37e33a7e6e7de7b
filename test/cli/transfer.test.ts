import {
  stat as hostStat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { copyIn, fetchOut } from "../../src/cli/transfer.js";
import type { FileStat, Sandbox } from "../../src/sandbox/sandbox.js";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "shinken-transfer-"));
});
afterEach(() => rm(folder, { recursive: true }));

const stat = (path: string, type: FileStat["type"]): FileStat => ({
  path,
  type,
  size: 0,
  mode: 0o644,
  uid: 0,
  gid: 0,
  mtime: 0,
});

/** A guest whose agent says what the test wants. */
function guest(
  entries: FileStat[],
  known: Record<string, FileStat> = {},
): { machine: Sandbox; written: Map<string, Buffer> } {
  const written = new Map<string, Buffer>();
  const machine = {
    stat: (path: string) => Promise.resolve(known[path] ?? stat(path, "directory")),
    statIfExists: (path: string) => Promise.resolve(known[path] ?? null),
    list: () => Promise.resolve(entries),
    readFile: () => Promise.resolve(Buffer.from("from the guest")),
    exec: () => Promise.resolve({ stdout: Buffer.from("/home/agent") }),
    writeFile: (path: string, data: Uint8Array, options: { append?: boolean }) => {
      written.set(
        path,
        Buffer.concat([...(options.append === true ? [written.get(path) ?? Buffer.alloc(0)] : []), data]),
      );
      return Promise.resolve();
    },
  };
  return { machine: machine as unknown as Sandbox, written };
}

describe("fetching a folder", () => {
  it.each(["/data/..", "/data/.", "/data/a\0b", ""])(
    "refuses a guest that names an entry %j",
    async (path) => {
      const { machine } = guest([stat(path, "file")]);
      await expect(fetchOut(machine, "/work", join(folder, "out"), undefined)).rejects.toMatchObject({
        code: "agent_protocol",
      });
    },
  );

  it("writes nothing outside, whatever folder the guest says an entry is in", async () => {
    const { machine } = guest([stat("/../../etc/evil", "file")]);
    await fetchOut(machine, "/work", join(folder, "out"), undefined);
    expect(await readdir(folder)).toEqual(["out"]);
    expect(await readFile(join(folder, "out", "evil"), "utf8")).toBe("from the guest");
  });

  it("leaves out what is neither a file nor a folder", async () => {
    const { machine } = guest([stat("/data/link", "symlink"), stat("/data/pipe", "fifo")]);
    await fetchOut(machine, "/work", join(folder, "out"), undefined);
    expect(await readdir(join(folder, "out"))).toEqual([]);
  });
});

describe("fetching a file", () => {
  const tool = { ...stat("/data/tool", "file"), mode: 0o100755 };

  it("keeps its permissions", async () => {
    const { machine } = guest([], { "/data/tool": tool });
    await fetchOut(machine, "/data/tool", join(folder, "tool"), undefined);
    expect((await hostStat(join(folder, "tool"))).mode & 0o777).toBe(0o755);
  });

  it("puts it into a folder that is there, or that a slash asks for", async () => {
    const { machine } = guest([], { "/data/tool": tool });
    await fetchOut(machine, "/data/tool", folder, undefined);
    await fetchOut(machine, "/data/tool", `${join(folder, "new", "one")}/`, undefined);
    expect(await readFile(join(folder, "tool"), "utf8")).toBe("from the guest");
    expect(await readFile(join(folder, "new", "one", "tool"), "utf8")).toBe("from the guest");
  });

  it("follows a link to it, under the link's name, but not in a circle", async () => {
    const link = (path: string, target: string) => ({ ...stat(path, "symlink"), target });
    const { machine } = guest([], {
      "/data/tool": tool,
      "/latest": link("/latest", "work/tool"),
      "/a": link("/a", "/b"),
      "/b": link("/b", "/a"),
    });
    await fetchOut(machine, "/latest", `${folder}/`, undefined);
    expect(await readdir(folder)).toEqual(["latest"]);
    await expect(fetchOut(machine, "/a", `${folder}/`, undefined)).rejects.toMatchObject({
      code: "bad_request",
    });
  });
});

describe("copying in", () => {
  it("puts a file into a folder that is there", async () => {
    await writeFile(join(folder, "data"), "1");
    const { machine, written } = guest([], { "/tmp": stat("/tmp", "directory") });
    await copyIn(machine, join(folder, "data"), "/tmp", undefined);
    await copyIn(machine, join(folder, "data"), "/tmp/other", undefined);
    expect([...written.keys()]).toEqual(["/tmp/data", "/tmp/other"]);
  });

  it("takes large files in pieces and leaves links alone", async () => {
    const source = join(folder, "in");
    await mkdir(source);
    const large = Buffer.alloc(40 * 1024 * 1024, "0123456789abcdef");
    await writeFile(join(source, "large"), large);
    await writeFile(join(source, "empty"), "");
    await symlink("/etc/passwd", join(source, "link"));
    const { machine, written } = guest([]);
    await copyIn(machine, source, "data/", undefined);
    expect([...written.keys()].sort()).toEqual(["/home/agent/data/in/empty", "/home/agent/data/in/large"]);
    expect(written.get("/home/agent/data/in/large")?.equals(large)).toBe(true);
    expect(written.get("/home/agent/data/in/empty")).toHaveLength(0);
  });
});
