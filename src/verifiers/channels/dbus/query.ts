import { z } from "zod";
import { describe, guestPath, images } from "../describe.js";

const name = (what: string) =>
  z
    .string()
    .max(255)
    .regex(/^:?[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+$/, `must be the name of ${what}`);
const member = z
  .string()
  .max(255)
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of a member");

/** Method names that say that they only read. */
const READING = /^(?:Get|List|Has|Is|Find|Lookup|Query|Can|Introspect)(?:$|[A-Z])|^NameHasOwner$/;

const bus = {
  /** The bus's socket in the machine. */
  socket: guestPath.default("/run/dbus/system_bus_socket"),
  /** A session bus talks to its own user alone. */
  user: z.string().min(1).max(32).default("root"),
  timeout_ms: z.int().positive().max(600_000).default(10_000),
  max_bytes: z.int().positive().max(16_777_216).default(1_048_576),
};
const object = {
  service: name("a service"),
  object: z
    .string()
    .max(255)
    .regex(/^\/(?:[A-Za-z0-9_]+(?:\/[A-Za-z0-9_]+)*)?$/, "must be the path of an object"),
};
const inside = { ...object, interface: name("an interface") };

/** What services on a D-Bus say, asked in a fork of its own in which the workload goes on. */
const dbusQuery = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("names"), ...bus }),
  z.strictObject({ kind: z.literal("property"), ...bus, ...inside, property: member }),
  z.strictObject({ kind: z.literal("properties"), ...bus, ...inside }),
  z.strictObject({ kind: z.literal("introspect"), ...bus, ...object }),
  z.strictObject({
    kind: z.literal("call"),
    ...bus,
    ...inside,
    method: member.regex(
      READING,
      "must be a method whose name says that it reads: Get..., List..., Has..., Is..., Find..., Can...",
    ),
    /** Of the arguments, as busctl takes them. */
    signature: z
      .string()
      .max(255)
      .regex(/^[a-z(){}]*$/, "must be a D-Bus signature")
      .default(""),
    args: z.array(z.string().max(10_000)).max(1_000).default([]),
  }),
]);

export type DbusQuery = z.output<typeof dbusQuery>;

export const dbusChannel = describe({
  query: dbusQuery,
  results: { names: "list", property: "json", properties: "json", introspect: "json", call: "json" },
  version: 1,
  onlyLooks: false,
  machine: true,
  live: true,
  images: images.desktop,
});
