/** Channels are there, and the assets that queries name are for grading. */
import { nearest, nearestPath } from "../../errors/nearest.js";
import { breachOf } from "../assertions/json.js";
import { moduleNames, moduleOf } from "../channels/module/registry.js";
import { assetsOf, type ChannelQuery } from "../channels/schema.js";
import { statementFault } from "../channels/sqlite/statement.js";
import { fault, type Path, type ProofContext } from "./fault.js";
import { proveInnerPath } from "./paths.js";

export function proveChannel(channel: string, path: Path, offered: readonly string[]): void {
  if (offered.includes(channel)) return;
  throw fault(
    path,
    `the channel "${channel}" is not available: the image lacks it, or capabilities.grader leaves it out`,
    `available: ${offered.length === 0 ? "none" : offered.join(", ")}`,
  );
}

export function proveQuery(
  query: ChannelQuery,
  path: Path,
  channels: readonly string[],
  context: Partial<ProofContext>,
): void {
  proveChannel(query.channel, [...path, "channel"], channels);
  proveModule(query, path);
  proveStatement(query, path);
  proveInnerPath(query, path);
  for (const asset of assetsOf(query)) proveAsset(asset.name, [...path, ...asset.path], context);
}

export function proveAsset(name: string, path: Path, context: Partial<ProofContext>): void {
  const assets = context.assets ?? {};
  const asset = Object.hasOwn(assets, name) ? assets[name] : undefined;
  if (asset === undefined) {
    const meant = nearestPath(name, Object.keys(assets));
    throw fault(path, `there is no asset "${name}"`, meant && `did you mean "${meant}"?`);
  }
  if (asset.for !== "grading")
    throw fault(path, `the asset "${name}" is for setup; the agent may have seen it`);
}

/** A module's query exists and takes these arguments. */
export function proveModule(query: ChannelQuery, path: Path): void {
  if (query.channel !== "module") return;
  const { module: name, ask, args } = query.query;
  const module = moduleOf(name);
  if (module === undefined) {
    const meant = nearest(name, moduleNames());
    throw fault(
      [...path, "query", "module"],
      `there is no module "${name}"`,
      meant && `did you mean "${meant}"?`,
    );
  }
  const { queries } = module.manifest;
  const spec = Object.hasOwn(queries, ask) ? queries[ask] : undefined;
  if (spec === undefined) {
    const meant = nearest(ask, Object.keys(queries));
    throw fault(
      [...path, "query", "ask"],
      `the module ${name} has no query "${ask}"`,
      meant && `did you mean "${meant}"?`,
    );
  }
  const wrong = breachOf(args, spec.args);
  if (wrong === undefined) return;
  const { key, why, meant } = wrong;
  const at = [...path, "query", "args", ...wrong.path];
  const suggestion = meant && `did you mean "${meant}"?`;
  if (key !== undefined)
    throw fault([...at, key], `${name} ${ask} takes no argument of this name`, suggestion);
  throw fault(at, why, suggestion);
}

/** A query of SQLite is one that can be right on some database. */
function proveStatement(query: ChannelQuery, path: Path): void {
  if (query.channel !== "sqlite") return;
  const wrong = statementFault(query.query);
  if (wrong !== undefined) throw fault([...path, "query", ...wrong.path], wrong.why, wrong.suggestion);
}
