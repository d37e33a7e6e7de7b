/** What is proved of a task beyond its schema and its graph. */
import { ShinkenError } from "../../errors/index.js";
import { nearest, nearestPath } from "../../errors/nearest.js";
import { formatPath } from "../../errors/parse.js";
import type { LoadedGraph } from "../../verifiers/graph.js";
import { usedParams } from "./references.js";
import type { Task } from "./schema.js";
import type { Step } from "./steps.js";

type Path = (string | number)[];

function fault(path: Path, why: string, suggestion?: string): ShinkenError {
  const at = formatPath(path);
  return new ShinkenError("bad_task", `${at}: ${why}`, { path: at, suggestion });
}

/** Proves a filled-in task against its document and its graph. Throws `bad_task` for the first fault. */
export function proveTask(
  task: Task,
  document: Record<string, unknown>,
  graph: LoadedGraph,
  checkAction?: (action: unknown) => void,
): void {
  proveParamsUsed(task, document);
  proveServices(task);
  proveAssets(task);
  proveMutations(task, graph);
  proveOracle(task, checkAction);
}

/** Services are told apart by their names, which are on the network. */
function proveServices(task: Task): void {
  const seen = new Set(["localhost"]);
  task.services.forEach(({ name }, index) => {
    if (seen.has(name))
      throw fault(["services", index, "name"], `"${name}" is already the name of a machine`);
    seen.add(name);
  });
}

/** A parameter that changes nothing makes variants that look different and are not. */
function proveParamsUsed(task: Task, document: Record<string, unknown>): void {
  const used = usedParams(document);
  for (const name of Object.keys(task.params)) {
    if (!used.has(name)) throw fault(["params", name], "nothing uses this parameter");
  }
}

/** Steps write setup assets only: what a step writes, the agent or a link of its making may reach. */
function proveAssets(task: Task): void {
  const phases: [Path, readonly Step[]][] = [
    [["setup"], task.setup],
    ...task.services.map((one, index): [Path, readonly Step[]] => [["services", index, "setup"], one.setup]),
    [["verify", "prepare"], task.verify.prepare],
    ...task.mutations.map((one, index): [Path, readonly Step[]] => [
      ["mutations", index, "steps"],
      one.steps,
    ]),
  ];
  for (const [path, steps] of phases) {
    steps.forEach((step, index) => {
      if (!("write" in step) || step.write.asset === undefined) return;
      const name = step.write.asset;
      const at = [...path, index, "write", "asset"];
      const asset = Object.hasOwn(task.assets, name) ? task.assets[name] : undefined;
      if (asset === undefined) {
        const meant = nearestPath(name, Object.keys(task.assets));
        throw fault(at, `there is no asset "${name}"`, meant && `did you mean "${meant}"?`);
      }
      if (asset.for === "setup") return;
      const why = path.includes("setup")
        ? "must not enter the golden"
        : "enters a fork only with a check's own command";
      throw fault(at, `the asset "${name}" is for grading and ${why}`);
    });
  }
}

function proveMutations(task: Task, graph: LoadedGraph): void {
  const seen = new Set<string>();
  task.mutations.forEach((mutation, index) => {
    if (seen.has(mutation.id))
      throw fault(["mutations", index, "id"], `"${mutation.id}" is already the id of a mutation`);
    seen.add(mutation.id);
    mutation.flips.forEach((id, place) => {
      if (graph.nodes.has(id)) return;
      const meant = nearest(id, graph.nodes.keys());
      throw fault(
        ["mutations", index, "flips", place],
        `there is no node "${id}"`,
        meant && `did you mean "${meant}"?`,
      );
    });
  });
}

function proveOracle(task: Task, checkAction?: (action: unknown) => void): void {
  if (checkAction === undefined) return;
  task.oracle.forEach((action, index) => {
    try {
      checkAction(action);
    } catch (error) {
      const inner = error instanceof ShinkenError ? error : undefined;
      const place = inner?.path ?? "";
      const at = place === "" ? `oracle[${index}]` : `oracle[${index}].${place}`;
      const said = error instanceof Error ? error.message : String(error);
      // A parser's message begins with the path, which stands in ours already.
      const why = said.startsWith(`${place}: `) ? said.slice(place.length + 2) : said;
      throw new ShinkenError("bad_task", `${at}: ${why}`, {
        path: at,
        suggestion: inner?.suggestion,
        cause: error,
      });
    }
  });
}
