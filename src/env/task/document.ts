/** YAML 1.2 core or JSON text to plain values, with the line of a fault. */
import { parseDocument as parseYaml } from "yaml";
import { ShinkenError } from "../../errors/index.js";

/** Aliases may expand to at most this many nodes: a small file must not become a large value. */
const MAX_ALIASES = 100;

/**
 * Parses the text of a task file. JSON is a part of YAML 1.2, so one parser reads both. Duplicate keys, several documents,
 * tags of other schemas and numbers that are not finite are refused. Throws `bad_task`.
 * @param name how the text is called in errors, a file's path for instance
 */
export function parseDocument(text: string, name: string): unknown {
  const document = parseYaml(text, {
    version: "1.2",
    schema: "core",
    uniqueKeys: true,
    strict: true,
    merge: false,
  });
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem !== undefined) {
    const line = problem.linePos?.[0].line;
    throw new ShinkenError(
      "bad_task",
      `${name}${line === undefined ? "" : `:${line}`}: ${firstLine(problem.message)}`,
      {
        path: line === undefined ? undefined : `line ${line}`,
      },
    );
  }
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES }) as unknown;
  } catch (error) {
    throw new ShinkenError(
      "bad_task",
      `${name}: ${error instanceof Error ? firstLine(error.message) : "unreadable"}`,
      {
        cause: error,
      },
    );
  }
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? text;
}
