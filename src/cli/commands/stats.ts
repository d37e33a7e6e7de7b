import { createReadStream } from "node:fs";
import type { Command } from "commander";
import { ShinkenError } from "../../errors/index.js";

export function define(command: Command): void {
  command
    .argument("[file]", "JSON: scores of replicas; - or nothing for standard input", "-")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      `
Reads {"tasks": [[1, 0, 1, null], [0.5, 1]], "k": 3, "confidence": 0.95, "seed": 1, "resamples": 10000}: a list of scores for each
task, from 0 to 1, null for a replica without a verdict. Only "tasks" must be there. A score of 1 is a pass.

Example:
  shinken stats scores.json
  echo '{"tasks": [[1,0,1,null],[1,1,1,1]], "k": 3}' | shinken stats --json

Exit codes: 0 figures were printed, 2 the input is wrong.`,
    )
    .action(stats);
}

async function stats(file: string, options: { json?: boolean }): Promise<void> {
  const { parseStatisticsInput, renderStatistics, statisticsLimits, statisticsOf } = await import(
    "../../rollout/statistics/index.js"
  );
  const text = await readAtMost(file, statisticsLimits.bytes);
  const input = parseStatisticsInput(parsed(file, text));
  const report = statisticsOf(input);
  // Not `printJson`: the paths in `reasons` are no names.
  process.stdout.write(
    options.json === true ? `${JSON.stringify(report)}\n` : renderStatistics(report, input),
  );
}

/** The text of a file, or of standard input for "-". */
async function readAtMost(file: string, most: number): Promise<string> {
  const source = file === "-" ? process.stdin : createReadStream(file);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > most) break;
      chunks.push(chunk);
    }
  } catch (error) {
    const { code = "unreadable" } = error as NodeJS.ErrnoException;
    throw new ShinkenError("bad_request", `${file}: ${code}`, {
      path: file,
      suggestion: "name a file with scores, or - for standard input",
    });
  }
  if (size > most) throw new ShinkenError("too_large", `${nameOf(file)}: more than ${most} bytes`);
  return Buffer.concat(chunks).toString("utf8");
}

function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new ShinkenError("bad_request", `${nameOf(file)}: ${(error as Error).message}`, {
      path: file,
      suggestion: 'write {"tasks": [[1, 0, null]]}; shinken stats --help shows all',
    });
  }
}

const nameOf = (file: string): string => (file === "-" ? "standard input" : file);
