import type { ShinkenClient } from "../client/index.js";
import type { LoadedTask } from "../env/task/index.js";
import { ShinkenError } from "../errors/index.js";

const shown = 5;

/** A server that somebody else started must have the tasks of the folder, or scores would be told of tasks that were not played. @throws ShinkenError `bad_request` */
export async function checkServerTasks(
  client: Pick<ShinkenClient, "tasks">,
  tasks: readonly LoadedTask[],
): Promise<void> {
  const there = new Map((await client.tasks()).map(({ id, version }) => [id, version]));
  const wrong = tasks.flatMap((task) => {
    const { version } = task.variant().task;
    const found = there.get(task.id);
    if (found === version) return [];
    return [found === undefined ? `no ${task.id}` : `${task.id} ${found}, not ${version}`];
  });
  if (wrong.length === 0) return;
  const more = wrong.length > shown ? ` and ${wrong.length - shown} more` : "";
  throw new ShinkenError("bad_request", `the server has ${wrong.slice(0, shown).join("; ")}${more}`, {
    path: "--url",
    suggestion: "start it with the same folder of tasks: shinken serve --tasks DIR",
  });
}
