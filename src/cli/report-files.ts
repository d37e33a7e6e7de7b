/** Reports that a command writes into files beside what it prints. */
import { writeFileSync } from "node:fs";
import type { Command } from "commander";
import { isDiskFull } from "../errors/disk.js";
import { ShinkenError } from "../errors/index.js";

export interface ReportOptions {
  markdown?: string;
  svg?: string;
}

export function reportOptions(command: Command): Command {
  return command
    .option("--markdown <file>", "write a report in Markdown there")
    .option("--svg <file>", "draw the intervals there");
}

/** Writes those that were asked for. @throws ShinkenError `bad_request` for a place that cannot be written to, `disk_full` */
export function writeReports(
  options: ReportOptions,
  reports: Readonly<Record<keyof ReportOptions, () => string>>,
): void {
  for (const kind of ["markdown", "svg"] as const) {
    const path = options[kind];
    if (path === undefined) continue;
    try {
      writeFileSync(path, reports[kind]());
    } catch (cause) {
      if (cause instanceof ShinkenError) throw cause;
      const code = isDiskFull(cause) ? "disk_full" : "bad_request";
      throw new ShinkenError(code, (cause as Error).message, { path: `--${kind}`, cause });
    }
  }
}
