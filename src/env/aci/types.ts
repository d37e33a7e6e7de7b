/** What an action is to the rest of the room: a schema, a capability, and something to do in a machine. */
import type { z } from "zod";
import type { Sandbox } from "../../sandbox/sandbox.js";
import type { ActionResult } from "../environment.js";

/** What a task must grant before an action may be used; null: always allowed. */
export type ActionCapability = "exec" | "files" | "shell";

/** Faults of an action that are the agent's to mend: they stand in the observation, and the episode goes on. */
export type ActionErrorCode = "guest_error" | "no_match" | "ambiguous_match" | "too_large" | "out_of_range";

export interface ActionContext {
  readonly sandbox: Sandbox;
  /** The user in whose name the agent acts. */
  readonly user: string;
  /** That user's home: what `~` means. */
  readonly home: string;
  /** Where commands start and relative paths begin. */
  readonly cwd: string;
  /** Guest milliseconds that the episode has left; no action gets more. */
  readonly remainingMs: number;
}

export interface ActionDefinition<Schema extends z.ZodType = z.ZodType> {
  readonly type: string;
  readonly capability: ActionCapability | null;
  /** For the model that chooses actions. */
  readonly description: string;
  readonly schema: Schema;
  /** True if the episode ends with it. */
  readonly ends?: true;
  run(action: z.output<Schema>, context: ActionContext): Promise<ActionResult>;
}

/** Keeps the schema's type for `run` and forgets it for the registry. */
export function defineAction<Schema extends z.ZodType>(
  definition: ActionDefinition<Schema>,
): ActionDefinition {
  return definition;
}
