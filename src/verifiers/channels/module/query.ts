import { z } from "zod";
import { jsonFields } from "../../assertions/json-value.js";
import { describe } from "../describe.js";
import { moduleName } from "./manifest.js";

/** A question of a module: what `modules/` knows of one application, by a command in the guest that prints JSON. */
const moduleQuery = z.strictObject({
  kind: z.literal("json").default("json"),
  module: moduleName,
  /** One of the module's queries. */
  ask: z.string().min(1).max(64),
  /** Handed to it as they are; the module says what it takes. */
  args: jsonFields.default({}),
  timeout_ms: z.int().positive().max(600_000).default(10_000),
});

export type ModuleQuery = z.output<typeof moduleQuery>;

export const moduleChannel = describe({
  query: moduleQuery,
  results: { json: "json" },
  version: 1,
  onlyLooks: false,
  machine: true,
  // An application may run what the agent configured for it: no other check shares that fork.
  ownFork: true,
});
