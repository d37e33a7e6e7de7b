/** Task sets: a folder whose sub-folders hold one task each. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { ShinkenError } from "../../errors/index.js";
import { digestOf } from "../../verifiers/canonical.js";
import { type LoadedTask, type LoadTaskOptions, loadTask, TASK_FILES } from "./load.js";

export interface TaskSet {
  readonly folder: string;
  /** Sorted by id. */
  readonly tasks: readonly LoadedTask[];
  /** One content hash over all tasks; it does not depend on where the folder lies. */
  readonly digest: string;
}

/** Folders inside a task set are searched this deep. */
const MAX_DEPTH = 4;
const MAX_TASKS = 10_000;

async function taskFolders(folder: string, depth: number): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  if (entries.some((entry) => entry.isFile() && (TASK_FILES as readonly string[]).includes(entry.name)))
    return [folder];
  if (depth === 0) return [];
  const found: string[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.isDirectory() && !entry.name.startsWith(".")) {
      found.push(...(await taskFolders(join(folder, entry.name), depth - 1)));
    }
  }
  return found;
}

/**
 * Loads every task below a folder, or the one task of a task's own folder or file. Rejects with `bad_task` if two tasks
 * share an id, if there is none, or if one of them is broken; the message then begins with its file.
 */
export async function loadTaskSet(folder: string, options: LoadTaskOptions = {}): Promise<TaskSet> {
  const found = await stat(folder).catch(() => undefined);
  if (found === undefined) throw new ShinkenError("bad_task", `${folder}: no such file or folder`);
  const folders = found.isFile() ? [folder] : await taskFolders(folder, MAX_DEPTH);
  if (folders.length === 0) throw new ShinkenError("bad_task", `${folder}: holds no task`);
  if (folders.length > MAX_TASKS)
    throw new ShinkenError("bad_task", `${folder}: more than ${MAX_TASKS} tasks`);
  const tasks: LoadedTask[] = [];
  for (const one of folders) tasks.push(await loadNamed(one, options));
  tasks.sort((a, b) => (a.id < b.id ? -1 : 1));
  tasks.forEach((task, index) => {
    const before = tasks[index - 1];
    if (before?.id === task.id) {
      throw new ShinkenError(
        "bad_task",
        `${task.file}: id: "${task.id}" is already the id of ${before.file}`,
        { path: "id" },
      );
    }
  });
  return {
    folder,
    tasks,
    digest: digestOf(tasks.map(({ id, version, digest }) => ({ id, version, digest }))),
  };
}

async function loadNamed(path: string, options: LoadTaskOptions): Promise<LoadedTask> {
  try {
    return await loadTask(path, options);
  } catch (error) {
    if (!(error instanceof ShinkenError) || error.message.startsWith(path)) throw error;
    const { code, suggestion } = error;
    throw new ShinkenError(code, `${path}: ${error.message}`, { path: error.path, suggestion, cause: error });
  }
}
