/** Every category's scenarios. */
import type { Category, Scenario } from "../types.js";
import { scenarios as ambiguity } from "./ambiguity/index.js";
import { scenarios as coding } from "./coding/index.js";
import { scenarios as coordinates } from "./coordinates/index.js";
import { scenarios as instructionFollowing } from "./instruction-following/index.js";
import { scenarios as multiConstraint } from "./multi-constraint/index.js";
import { scenarios as nextActions } from "./next-actions/index.js";
import { scenarios as stateTracking } from "./state-tracking/index.js";
import { scenarios as strategySwitching } from "./strategy-switching/index.js";
import { scenarios as structuredOutput } from "./structured-output/index.js";
import { scenarios as toolSelection } from "./tool-selection/index.js";

const all: Partial<Record<Category, readonly Scenario[]>> = {
  tool_selection: toolSelection,
  next_actions: nextActions,
  strategy_switching: strategySwitching,
  instruction_following: instructionFollowing,
  ambiguity,
  coding,
  structured_output: structuredOutput,
  coordinates,
  multi_constraint: multiConstraint,
  state_tracking: stateTracking,
};

export const categoriesWithScenarios = Object.keys(all) as Category[];

export function scenariosOf(category: Category): readonly Scenario[] {
  return all[category] ?? [];
}
