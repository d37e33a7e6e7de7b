/** What this host offers to flat guest memory (`uffd`), for `shinken doctor`: asked of the kernel by doing it, not only read. */
import { readFile } from "node:fs/promises";
import type { HostMemory } from "./microvm/addon.js";

/** `note`: works without it, but slower or with less. `missing`: something will not work. */
export interface DoctorFact {
  name: string;
  state: "ok" | "note" | "missing";
  detail: string;
  /** What to do about it. */
  advice?: string | undefined;
}

const THP = "/sys/kernel/mm/transparent_hugepage";

/** The content of a file of the kernel's, or null. */
export async function textOf(path: string): Promise<string | null> {
  try {
    return (await readFile(path, "utf8")).trim();
  } catch {
    return null;
  }
}

/** Huge pages and userfaultfd. Never rejects. */
export async function flatMemoryFacts(): Promise<DoctorFact[]> {
  const [shared, sized] = await Promise.all(
    [`${THP}/shmem_enabled`, `${THP}/hugepages-2048kB/shmem_enabled`].map(textOf),
  );
  let host: HostMemory | null;
  try {
    const { loadAddon } = await import("./microvm/addon.js");
    host = loadAddon().hostMemory();
  } catch {
    host = null; // said by the addon's own fact
  }
  return [hugePagesFact(host, chosen(shared), chosen(sized)), userfaultfdFact(host)];
}

/** The word in brackets. */
function chosen(text: string | null | undefined): string | null {
  return /\[(\w+)\]/.exec(text ?? "")?.[1] ?? null;
}

/**
 * Whether goldens of flat memory lie in pages of 2 MiB. `host`: null if it could not be asked; `shared` and `sized`: the kernel's
 * setting for all sizes, and that for 2 MiB alone (Linux 6.12), which goes before it unless it is `inherit`.
 */
export function hugePagesFact(
  host: HostMemory | null,
  shared: string | null,
  sized: string | null,
): DoctorFact {
  const name = "huge pages for shared memory";
  const told = [`shmem_enabled ${shared ?? "unknown"}`, ...(sized === null ? [] : [`2 MiB ${sized}`])];
  const setting = told.join(", ");
  if (host?.hugePages === true) return { name, state: "ok", detail: `pages of 2 MiB come (${setting})` };
  const gain = "goldens of `uffd` memory lie in pages of 4 KiB; `soft` memory has no use for others";
  if (host?.refusal != null) return { name, state: "note", detail: `no \`uffd\` memory here (${setting})` };
  const off = (word: string | null): boolean => word === "never" || word === "deny";
  const settings: string[] = [];
  if (off(shared) && (sized === null || sized === "inherit" || off(sized)))
    settings.push(`echo advise > ${THP}/shmem_enabled`);
  if (off(sized)) settings.push(`echo inherit > ${THP}/hugepages-2048kB/shmem_enabled`);
  if (settings.length > 0)
    return { name, state: "note", detail: `off (${setting}): ${gain}`, advice: settings.join("; ") };
  if (host === null) return { name, state: "note", detail: setting };
  return {
    name,
    state: "note",
    detail: `allowed (${setting}), but none came: ${gain}`,
    advice: "echo 1 > /proc/sys/vm/compact_memory, or free some memory",
  };
}

function userfaultfdFact(host: HostMemory | null): DoctorFact {
  const name = "userfaultfd";
  if (host === null) return { name, state: "note", detail: "unknown without the addon" };
  if (host.refusal !== null) {
    return {
      name,
      state: "note",
      detail: host.refusal,
      advice: "sysctl vm.unprivileged_userfaultfd=1, or access to /dev/userfaultfd",
    };
  }
  const lacking = [
    ...(host.writeScan ? [] : ["snapshots of running machines (Linux 6.7)"]),
    ...(host.coldGoldens ? [] : ["goldens filled as they are touched (Linux 5.19)"]),
  ];
  if (lacking.length === 0)
    return { name, state: "ok", detail: "permitted, with all that `uffd` memory uses" };
  return { name, state: "note", detail: `permitted, without ${lacking.join(" and ")}` };
}
