import { parseAction } from "./aci/index.js";
import { type LoadTaskOptions, loadTaskSet, type TaskSet } from "./task/index.js";

/** Loads a task set with its oracles held against the actions that there are. Rejects with `bad_task`. */
export function loadTasks(folder: string, options: Pick<LoadTaskOptions, "scorers"> = {}): Promise<TaskSet> {
  return loadTaskSet(folder, { ...options, checkAction: (action) => void parseAction(action) });
}
