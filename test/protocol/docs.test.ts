import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { errorTable } from "../../src/errors/index.js";
import { defaultLimits } from "../../src/server/index.js";
import { parseRequest } from "../../src/server/requests.js";
import { closeCodes, operations } from "../../src/wire/index.js";
import { conversation, events } from "./frames.js";

const docs = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "docs");
const protocol = readFileSync(join(docs, "protocol.md"), "utf8");

describe("docs/errors.md", () => {
  it("lists exactly the codes of the table, with their meaning and whether to retry", () => {
    const rows = readFileSync(join(docs, "errors.md"), "utf8").matchAll(
      /^\| `(\w+)` \| (yes|no) \| (.+) \|$/gm,
    );
    const documented = [...rows].map(([, code, retry, meaning]) => [
      code,
      { retry: retry === "yes", meaning },
    ]);
    expect(Object.fromEntries(documented)).toEqual(errorTable);
    expect(documented).toHaveLength(Object.keys(errorTable).length);
  });
});

/** Indented lines that hold a JSON object, joined with the lines that continue them. */
const examples = protocol
  .split(/\n(?! {5})/)
  .map((block) => block.replaceAll("\n", " ").trim())
  .filter((block) => block.startsWith("{") && !block.includes("..."))
  .map((block) => JSON.parse(block) as Record<string, unknown>);

describe("docs/protocol.md", () => {
  it("describes every operation with a request that the server parses", () => {
    const requests = examples.filter((example) => "op" in example);
    for (const request of requests) expect(parseRequest(request)).toEqual(request);
    expect(new Set(requests.map((request) => request["op"]))).toEqual(new Set(operations));
    const described = [...protocol.matchAll(/^### (.+)$/gm)].flatMap(([, title]) =>
      (title ?? "").split(" and "),
    );
    expect(described).toEqual([...operations]);
  });

  it("names every event", () => {
    const names = [...protocol.matchAll(/^ {4}\{"event": "([\w.]+)"/gm)].map(([, name]) => name);
    expect(names.sort()).toEqual(
      Object.values(events)
        .map((event) => event["event"])
        .sort(),
    );
  });

  it("states the close codes", () => {
    for (const code of Object.values(closeCodes))
      expect(protocol).toMatch(new RegExp(`^\\| ${code} \\|`, "m"));
  });

  it("states the default limits", () => {
    const figures = [...protocol.matchAll(/^\| [^|]+ \| ([\d, s]+) \|/gm)].flatMap(([, cell]) =>
      (cell ?? "")
        .replace(/(\d),(\d)/g, "$1$2")
        .replace(/(\d),(\d)/g, "$1$2")
        .split(",")
        .map((figure) => Number.parseInt(figure, 10)),
    );
    const { wire, ...server } = defaultLimits;
    const limits = [
      wire.maxMessageBytes,
      wire.maxDepth,
      wire.maxMapEntries,
      wire.maxArrayEntries,
      wire.maxValues,
      server.connections,
      server.sessionsPerConnection,
      server.sessions,
      server.rollouts,
      server.outstandingRequests,
      server.sendQueueBytes,
      server.graceSeconds,
      server.idleSeconds,
      server.lifetimeSeconds,
    ];
    expect(figures.filter((figure) => figure > 0)).toEqual(limits);
  });

  it("is held up by golden frames of every operation", () => {
    const shown = new Set(Object.values(conversation).map((request) => request["op"]));
    expect(operations.filter((operation) => !shown.has(operation))).toEqual([]);
  });
});
