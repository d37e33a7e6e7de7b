/** Questions to services on a D-Bus of the machine, by the image's busctl. Nothing is started for them. */
import { DeadlinePassed } from "../../deadline.js";
import { parseInPool } from "../../pool.js";
import { ContentFault } from "../../value.js";
import type { ReadChannel } from "../channel.js";
import { complaint, failureOf, runGraderCommand } from "../command.js";
import type { DbusQuery } from "./query.js";

const BUSCTL = "/usr/bin/busctl";
/** Guest milliseconds that the program itself may need on top of the call. */
const PROGRAM_MS = 20_000;

/** What busctl says where there is no bus. */
const NO_BUS = /^Failed to (?:connect to bus|set bus address|acquire bus)|Connection refused/;
/** What it says where there is no such service, object, interface or member. */
const NOTHING_THERE =
  /was not provided by any \.service files|has no owner|does not understand message|Interface "[^"]*" not found|Property "[^"]*" not found|Unknown (?:object|interface|property|method)|No such (?:object|interface|property|method)/i;
const TIMED_OUT = /timed out/i;

export const readDbus: ReadChannel<DbusQuery> = async (query, context) => {
  const view = await context.view();
  const result = await runGraderCommand(view, {
    argv: commandLine(query),
    user: query.user,
    timeoutMs: query.timeout_ms + PROGRAM_MS,
    maxOutputBytes: query.max_bytes,
  });
  if (result.exitCode === 0)
    return parseInPool(result.stdout, { channel: "dbus", query }, placeOf(query), context.signal);
  const said = complaint(result);
  if (NO_BUS.test(said)) return { absent: `there is no bus at ${query.socket}: ${said}` };
  if (NOTHING_THERE.test(said)) return { absent: `${placeOf(query)}: ${said}` };
  if (TIMED_OUT.test(said)) throw new DeadlinePassed(`${placeOf(query)}: ${said}`);
  throw new ContentFault(`${placeOf(query)}: ${failureOf(result)}`);
};

function placeOf(query: DbusQuery): string {
  return query.kind === "names" ? query.socket : `${query.service}${query.object}`;
}

function commandLine(query: DbusQuery): string[] {
  const address = `unix:path=${escaped(query.socket)}`;
  const seconds = `${Math.ceil(query.timeout_ms / 1000)}`;
  const options = [
    "--json=short",
    "--no-pager",
    "--auto-start=no",
    `--timeout=${seconds}`,
    `--address=${address}`,
  ];
  return [BUSCTL, ...options, ...verb(query)];
}

/** Bytes of an address that do not stand for themselves are written in hex. */
function escaped(path: string): string {
  return path.replace(/[^-0-9A-Za-z_/.]/gu, (letter) =>
    Array.from(Buffer.from(letter), (byte) => `%${byte.toString(16).padStart(2, "0")}`).join(""),
  );
}

const BUS = ["org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus"];

function verb(query: DbusQuery): string[] {
  switch (query.kind) {
    case "names":
      return ["call", ...BUS, "ListNames"];
    case "property":
      return ["get-property", query.service, query.object, query.interface, query.property];
    case "properties":
      return [
        "call",
        query.service,
        query.object,
        "org.freedesktop.DBus.Properties",
        "GetAll",
        "s",
        query.interface,
      ];
    case "introspect":
      return ["call", query.service, query.object, "org.freedesktop.DBus.Introspectable", "Introspect"];
    case "call": {
      const { service, object, interface: face, method, signature, args } = query;
      // Words after "--" are none of busctl's options.
      return ["--", "call", service, object, face, method, ...(signature === "" ? [] : [signature, ...args])];
    }
  }
}
