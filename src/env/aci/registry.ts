import { z } from "zod";
import { ShinkenError } from "../../errors/index.js";
import { nearest } from "../../errors/nearest.js";
import { formatPath, parseOrThrow } from "../../errors/parse.js";
import type { Action } from "../environment.js";
import { done } from "./done.js";
import { editFile } from "./edit-file.js";
import { exec } from "./exec.js";
import { fail } from "./fail.js";
import { aciLimits } from "./limits.js";
import { readFile } from "./read-file.js";
import { shell } from "./shell.js";
import type { ActionCapability, ActionDefinition } from "./types.js";
import { wait } from "./wait.js";
import { writeFile } from "./write-file.js";

/** Every action there is, in the order in which they are described to a model. */
export const actionDefinitions: readonly ActionDefinition[] = [
  exec,
  shell,
  readFile,
  writeFile,
  editFile,
  wait,
  done,
  fail,
];

const byType = new Map(actionDefinitions.map((definition) => [definition.type, definition]));

export interface ParsedAction {
  readonly definition: ActionDefinition;
  readonly action: Action;
}

/**
 * Parses the actions of one step and proves that the task grants all of them, before anything is done. Rejects the
 * whole step with `bad_action` (path, suggestion) or `capability_denied`.
 */
export function parseActions(
  actions: readonly unknown[],
  granted: ReadonlySet<ActionCapability>,
): readonly ParsedAction[] {
  if (!Array.isArray(actions) || actions.length === 0) {
    throw new ShinkenError("bad_action", "a step needs at least one action", { path: "actions" });
  }
  if (actions.length > aciLimits.actionsPerStep) {
    throw new ShinkenError("bad_action", `a step holds at most ${aciLimits.actionsPerStep} actions`, {
      path: "actions",
    });
  }
  const parsed = actions.map((action, index) => parseAction(action, ["actions", index]));
  parsed.forEach(({ definition }, index) => {
    const { capability } = definition;
    if (capability !== null && !granted.has(capability)) {
      throw new ShinkenError(
        "capability_denied",
        `the task does not grant "${capability}", which ${definition.type} needs`,
        {
          path: formatPath(["actions", index, "type"]),
        },
      );
    }
    if (definition.ends === true && index < parsed.length - 1) {
      throw new ShinkenError(
        "bad_action",
        `${definition.type} ends the episode: no action may follow it in a step`,
        {
          path: formatPath(["actions", index]),
        },
      );
    }
  });
  return parsed;
}

/** Parses one action by its `type`. */
export function parseAction(value: unknown, root: readonly PropertyKey[] = []): ParsedAction {
  const type = typeof value === "object" && value !== null ? (value as { type?: unknown }).type : undefined;
  if (typeof type !== "string") {
    throw new ShinkenError("bad_action", "an action is a map with a type", {
      path: formatPath([...root, "type"]),
    });
  }
  const definition = byType.get(type);
  if (definition === undefined) {
    const meant = nearest(type, byType.keys());
    throw new ShinkenError("bad_action", `there is no action "${type.slice(0, 64)}"`, {
      path: formatPath([...root, "type"]),
      suggestion:
        meant === undefined ? `actions are ${[...byType.keys()].join(", ")}` : `did you mean "${meant}"?`,
    });
  }
  return { definition, action: parseOrThrow(definition.schema, value, "bad_action", root) as Action };
}

export interface ToolDescription {
  name: string;
  description: string;
  /** JSON Schema (draft 2020-12) of the action without its `type`. */
  input_schema: Record<string, unknown>;
}

/** The actions as tools for a model, in a neutral form; only those that a task grants. */
export function toolDescriptions(granted: ReadonlySet<ActionCapability>): ToolDescription[] {
  return actionDefinitions
    .filter(({ capability }) => capability === null || granted.has(capability))
    .map(({ type, description, schema }) => {
      const {
        $schema: _,
        properties,
        required,
        ...rest
      } = z.toJSONSchema(schema, { io: "input" }) as Record<string, unknown>;
      const { type: __, ...fields } = properties as Record<string, unknown>;
      return {
        name: type,
        description,
        input_schema: {
          ...rest,
          properties: fields,
          required: (required as string[]).filter((name) => name !== "type"),
        },
      };
    });
}
