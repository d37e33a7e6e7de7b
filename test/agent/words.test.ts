import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Channel, Control, Event, Flag, Kind, maxPayloadBytes, Op } from "../../src/sandbox/agent/frame.js";

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const page = read("docs/agent-protocol.md");
const header = read("native/agent/wire/frame.h");

/** The constants of an enumeration in the agent's header, by their names without the prefix. */
function enumeration(name: string): Record<string, number> {
  const body = new RegExp(`enum ${name} \\{([^}]*)\\}`).exec(header)?.[1] ?? "";
  const values: Record<string, number> = {};
  let next = 0;
  for (const entry of body.split(",").map((part) => part.trim())) {
    const match = /^[A-Z]+_([A-Z_]+)(?: = (\d+))?$/.exec(entry);
    if (match === null) continue;
    const value = match[2] === undefined ? next : Number(match[2]);
    values[(match[1] as string).toLowerCase()] = value;
    next = value + 1;
  }
  return values;
}

/** Rows of the page's table that begins with this heading, as number and name. */
function table(heading: string): Record<string, number> {
  const lines = page.slice(page.indexOf(heading)).split("\n").slice(2);
  const rows: Record<string, number> = {};
  for (const line of lines) {
    const match = /^\| (\d+) \| (\w+) \|/.exec(line);
    if (match === null) break;
    rows[match[2] as string] = Number(match[1]);
  }
  return rows;
}

describe("the words of the agent protocol", () => {
  it("are the same operations in the page, the client and the agent", () => {
    expect(table("| op | name | request |")).toEqual(Op);
    expect(enumeration("op")).toEqual(Op);
  });

  it("are the same control frames and events", () => {
    expect(table("| op | name | direction |")).toEqual(Control);
    expect(enumeration("control")).toEqual(Control);
    const events = { ready: Event.ready, agent_died: Event.agentDied, fault: Event.fault };
    expect(table("| op | name | payload |")).toEqual(events);
    expect(enumeration("event")).toEqual(events);
  });

  it("are the same bounds of hooks in their page and the agent", () => {
    const limits = read("native/agent/agent/limits.h");
    const bound = (name: string): number =>
      Number(new RegExp(`#define ${name} (\\d+)`).exec(limits)?.[1] ?? Number.NaN);
    const hooks = read("docs/uniqueness.md");
    expect(hooks).toContain(`\`HOOKS_MAX\` ${bound("HOOKS_MAX")} hooks`);
    expect(hooks).toContain(`names of at most ${bound("HOOK_NAME_BYTES") - 1} bytes`);
    expect(hooks).toContain(`\`HOOK_TIMEOUT_MS\` ${bound("HOOK_TIMEOUT_MS").toLocaleString("en")} ms`);
  });

  it("are the same kinds, flags, channels and limit in the client and the agent", () => {
    expect(enumeration("frame_kind")).toEqual(Kind);
    expect(enumeration("frame_flags")).toEqual(Flag);
    const { input, stdout, stderr, records, file } = Channel;
    expect(enumeration("channel")).toEqual({ in: input, out: stdout, err: stderr, records, file });
    expect(header).toContain(`#define FRAME_PAYLOAD_MAX ${maxPayloadBytes}u`);
  });
});
