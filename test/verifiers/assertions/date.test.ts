import { describe, expect, it } from "vitest";
import { grade, textCheck } from "../support.js";

async function scoreOf(text: string, assert: object): Promise<number | null> {
  const check = textCheck("d", "/d", { ...assert, type: "date" });
  return (await grade(check, { files: { "/d": text } })).score;
}

describe("a date", () => {
  it.each([
    ["2026-03-04", { equals: "2026-03-04" }],
    ["4 March 2026", { formats: ["d LLLL yyyy"], equals: "2026-03-04" }],
    ["4. März 2026", { formats: ["d. LLLL yyyy"], locale: "de", equals: "2026-03-04" }],
    ["03/04/2026", { formats: ["LL/dd/yyyy"], equals: "2026-03-04" }],
    ["03/04/2026", { formats: ["dd/LL/yyyy"], equals: "2026-04-03" }],
    ["2026-03-04T23:30:00Z", { zone: "Europe/Berlin", equals: "2026-03-05" }],
    ["2026-03-04T23:30:00+02:00", { precision: "minute", equals: "2026-03-04T21:30:00Z" }],
    ["2026-03-04T10:00:30Z", { precision: "second", equals: "2026-03-04T10:00:00Z", tolerance_seconds: 30 }],
    ["2026-03-05", { after: "2026-03-04", before: "2026-03-06" }],
    ["2026-03-01", { precision: "month", equals: "2026-03-31" }],
  ])("%s is read by its stated format and zone", async (text, assert) => {
    expect(await scoreOf(text, assert)).toBe(1);
  });

  it.each([
    ["2026-03-05", { equals: "2026-03-04" }],
    ["2026-03-04", { after: "2026-03-04" }],
    ["2026-03-04", { before: "2026-03-04" }],
    ["03/04/2026", { formats: ["dd/LL/yyyy"], equals: "2026-03-04" }],
  ])("%s fails where it is another", async (text, assert) => {
    expect(await scoreOf(text, assert)).toBe(0);
  });

  it.each(["2026", "2026-03", "", "2026-02-30", "2026-13-01", "4 March 2026", "20260304x", "null", "0"])(
    "%j is none, and ungraded",
    async (text) => {
      expect(await scoreOf(text, { equals: "2026-03-04" })).toBeNull();
    },
  );

  const relative = (shift: object) => ({ equals: { reference: "2026-01-31T12:00:00Z", ...shift } });
  it.each([
    ["2026-02-03", { days: 3 }],
    ["2026-02-28", { months: 1 }],
    ["2025-12-31", { months: -1 }],
    ["2028-01-31", { years: 2 }],
    ["2026-05-04", { months: 4, weekday: { day: "monday", nth: 1 } }],
    ["2026-08-31", { months: 7, weekday: { day: "monday", nth: 5 } }],
    ["2026-01-30", { weekday: { day: "friday", nth: -1 } }],
  ])("%s is counted from a stated time", async (text, shift) => {
    expect(await scoreOf(text, relative(shift))).toBe(1);
  });

  it("that is the first Monday four and eight months later is found in every month of the year", async () => {
    for (let month = 1; month <= 12; month++) {
      const reference = `2026-${String(month).padStart(2, "0")}-10`;
      for (const months of [4, 8]) {
        const wanted = { equals: { reference, months, weekday: { day: "monday", nth: 1 } } };
        const target = new Date(Date.UTC(2026, month - 1 + months, 1));
        target.setUTCDate(1 + ((8 - target.getUTCDay()) % 7));
        expect(await scoreOf(target.toISOString().slice(0, 10), wanted)).toBe(1);
      }
    }
  });

  it("is the same whenever it is graded: nothing asks what day it is", async () => {
    const wanted = relative({ months: 1 });
    expect([await scoreOf("2026-02-28", wanted), await scoreOf("2026-02-28", wanted)]).toEqual([1, 1]);
  });

  it("counts from a time that the machine holds", async () => {
    const from = { from: { channel: "fs", query: { kind: "text", path: "/start" } } };
    const check = textCheck("d", "/d", { type: "date", equals: { reference: from, days: 1 } });
    expect(await grade(check, { files: { "/d": "2026-03-05", "/start": "2026-03-04\n" } })).toMatchObject({
      score: 1,
    });
    const broken = await grade(check, { files: { "/d": "2026-03-05", "/start": "yesterday" } });
    expect(broken).toMatchObject({ status: "ungraded" });
  });

  it("with a fifth Monday that its month lacks is ungraded", async () => {
    expect(
      await scoreOf("2026-02-01", relative({ months: 1, weekday: { day: "monday", nth: 5 } })),
    ).toBeNull();
  });
});
