import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { memoryBounds } from "../../src/sandbox/host-memory.js";

const MiB = 1024 ** 2;
const roots: string[] = [];

/** A folder that stands for `/`, with these files. */
function host(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), "shinken-host-"));
  roots.push(root);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), `${text}\n`);
  }
  return root;
}
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true });
});

const meminfo = "MemTotal:       8388608 kB\nMemFree:         100000 kB\nMemAvailable:    2097152 kB";
const ofHost = { name: "the host's memory", totalBytes: 8192 * MiB, availableBytes: 2048 * MiB };

describe("the memory that a process may use", () => {
  it("is the host's where no control group bounds it", () => {
    const files = { "proc/meminfo": meminfo, "proc/self/cgroup": "0::/" };
    expect(memoryBounds(host(files))).toEqual([ofHost]);
    const unbounded = { ...files, "sys/fs/cgroup/memory.max": "max", "sys/fs/cgroup/memory.current": "5" };
    expect(memoryBounds(host(unbounded))).toEqual([ofHost]);
  });

  it("is also that of every control group around it, whose clean page cache counts as free", () => {
    const group = "sys/fs/cgroup/user.slice";
    const bounds = memoryBounds(
      host({
        "proc/meminfo": meminfo,
        "proc/self/cgroup": "0::/user.slice/job.scope",
        [`${group}/job.scope/memory.max`]: "max",
        [`${group}/job.scope/memory.current`]: "1",
        [`${group}/memory.max`]: String(1024 * MiB),
        [`${group}/memory.current`]: String(900 * MiB),
        [`${group}/memory.stat`]: `anon 5\ninactive_file ${300 * MiB}\nactive_file 7`,
      }),
    );
    const name = "the control group's memory";
    expect(bounds).toEqual([ofHost, { name, totalBytes: 1024 * MiB, availableBytes: 424 * MiB }]);
  });

  it("is read from the first version of control groups, too, and from their root where the path is not ours", () => {
    const group = "sys/fs/cgroup/memory";
    const bounds = memoryBounds(
      host({
        "proc/meminfo": meminfo,
        "proc/self/cgroup": "11:cpu,cpuacct:/x\n4:memory:/docker/abc\n0::/",
        [`${group}/memory.limit_in_bytes`]: String(512 * MiB),
        [`${group}/memory.usage_in_bytes`]: String(600 * MiB),
        [`${group}/memory.stat`]: "total_inactive_file 0",
      }),
    );
    expect(bounds[1]).toMatchObject({ totalBytes: 512 * MiB, availableBytes: 0 });
    const unlimited = host({
      "proc/meminfo": meminfo,
      "proc/self/cgroup": "4:memory:/",
      [`${group}/memory.limit_in_bytes`]: "9223372036854771712",
      [`${group}/memory.usage_in_bytes`]: "1",
    });
    expect(memoryBounds(unlimited)).toEqual([ofHost]);
  });

  it("is not known where the host does not say", () => {
    expect(memoryBounds(host({}))).toEqual([]);
  });

  it.skipIf(process.platform !== "linux")("is known here", () => {
    const [bound] = memoryBounds();
    expect(bound?.totalBytes).toBeGreaterThan(256 * MiB);
    expect(bound?.availableBytes).toBeLessThan(bound?.totalBytes ?? 0);
  });
});
