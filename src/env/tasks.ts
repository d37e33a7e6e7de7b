import { parseAction } from "./aci/index.js";
import { loadTaskSet, type TaskSet } from "./task/index.js";

/** Loads a task set with its oracles held against the actions that there are. Rejects with `bad_task`. */
export function loadTasks(folder: string): Promise<TaskSet> {
  return loadTaskSet(folder, { checkAction: (action) => void parseAction(action) });
}
