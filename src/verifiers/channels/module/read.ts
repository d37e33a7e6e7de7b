/** A module's program in the grading fork: Python of the read-only image, isolated from what the agent installed for it. */
import { ShinkenError } from "../../../errors/index.js";
import { shapeFault } from "../../assertions/json.js";
import { parseJson } from "../../parse/json.js";
import { decodeText } from "../../parse/text.js";
import { ContentFault } from "../../value.js";
import type { ReadChannel } from "../channel.js";
import { complaint, failureOf, runGraderCommand } from "../command.js";
import type { ModuleQuery } from "./query.js";
import { type Module, moduleNamed } from "./registry.js";

/** Bytes that a module may print. */
const OUTPUT_LIMIT = 16 * 1024 * 1024;
/** With these the program says that what it was asked about is not there, or is malformed; its words are in standard error. */
const ABSENT = 3;
const MALFORMED = 4;

export const readModule: ReadChannel<ModuleQuery> = async (query, context) => {
  const module = moduleNamed(query.module);
  const view = await context.view();
  return askModule(module, query, (argv, stdin) =>
    runGraderCommand(view, { argv, stdin, timeoutMs: query.timeout_ms, maxOutputBytes: OUTPUT_LIMIT }),
  );
};

/** Asks a module through whatever runs commands. Rejects with `ContentFault`, or `grader_error` where the module is at fault. */
export async function askModule(
  module: Module,
  query: Pick<ModuleQuery, "ask" | "args">,
  run: (argv: string[], stdin: string) => ReturnType<typeof runGraderCommand>,
): ReturnType<ReadChannel<ModuleQuery>> {
  const { name, queries } = module.manifest;
  const spec = queries[query.ask];
  if (spec === undefined) throw new ShinkenError("grader_error", `${name} has no query "${query.ask}"`);
  const argv = ["/usr/bin/python3", "-I", "-S", "-B", "-c", module.program, query.ask];
  const result = await run(argv, JSON.stringify(query.args));
  if (result.exitCode === ABSENT) return { absent: complaint(result) };
  if (result.exitCode === MALFORMED) throw new ContentFault(complaint(result));
  if (result.exitCode !== 0)
    throw new ShinkenError("grader_error", `the module ${name}: ${failureOf(result)}`);
  const what = `the module ${name}'s output`;
  const value = parseJson(decodeText(result.stdout, what), what);
  const fault = shapeFault(value, spec.result);
  if (fault !== undefined) throw new ShinkenError("grader_error", `${what}: ${fault}`);
  return { type: "json", value };
}
