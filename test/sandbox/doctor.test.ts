import { describe, expect, it } from "vitest";
import { doctorFacts } from "../../src/sandbox/doctor.js";
import { hugePagesFact } from "../../src/sandbox/doctor-memory.js";
import { loadAddon } from "../../src/sandbox/microvm/addon.js";

const host = loadAddon().hostMemory();

describe("the doctor on flat guest memory", () => {
  it("says of this host what it grants when it is asked", async () => {
    const facts = await doctorFacts();
    const stateOf = (name: string) => facts.find((fact) => fact.name === name)?.state;
    expect(stateOf("huge pages for shared memory")).toBe(host.hugePages ? "ok" : "note");
    const all = host.refusal === null && host.writeScan && host.coldGoldens;
    expect(stateOf("userfaultfd")).toBe(all ? "ok" : "note");
    expect(new Set(facts.map(({ name }) => name)).size).toBe(facts.length);
  });

  const granting = { refusal: null, writeScan: true, coldGoldens: true, hugePages: true };
  const refusing = { ...granting, hugePages: false };
  const root = "/sys/kernel/mm/transparent_hugepage";
  it.each([
    [granting, "advise", "inherit", "ok", undefined],
    [refusing, "never", null, "note", `echo advise > ${root}/shmem_enabled`],
    [refusing, "never", "inherit", "note", `echo advise > ${root}/shmem_enabled`],
    [refusing, "advise", "never", "note", `echo inherit > ${root}/hugepages-2048kB/shmem_enabled`],
    [refusing, "advise", "inherit", "note", "echo 1 > /proc/sys/vm/compact_memory, or free some memory"],
    [null, "advise", null, "note", undefined],
  ] as const)("says what to set: %j with %s and %s", (asked, shared, sized, state, advice) => {
    expect(hugePagesFact(asked, shared, sized)).toMatchObject({
      state,
      ...(advice === undefined ? {} : { advice }),
    });
  });

  it("asks for both settings where both are off", () => {
    expect(hugePagesFact(refusing, "never", "never").advice?.split("; ")).toHaveLength(2);
  });
});
