import { type FileHandle, open } from "node:fs/promises";
import type { Command } from "commander";
import { ShinkenError } from "../../errors/index.js";
import { exitCodes } from "../exit-codes.js";
import { textLines } from "../text-lines.js";

export function define(command: Command): void {
  command
    .argument("[file]", 'lines of {"id","contract","key","answer"}; standard input if it is - or unsaid', "-")
    .addHelpText(
      "after",
      `
Prints a line for each: {"id","correct","reason","correct_without_fence"}; {"id","error"} for one that is wrong in itself.
Contracts are those of docs/smolcua.md (JSON Schema: docs/smolcua/contract.json).

Example:
  shinken smolcua grade answers.jsonl
  where a line is {"id":1,"contract":{"kind":"letter","letters":"ABCD"},"key":"B","answer":" B "}

Exit codes: 0 every line was graded, right or wrong; 1 some could not be; 2 usage, or the file cannot be read.`,
    )
    .action(gradeFile);
}

async function gradeFile(file: string): Promise<void> {
  const { gradeLine, lineAtMost } = await import("../../smolcua/index.js");
  const input = file === "-" ? process.stdin : (await opened(file)).createReadStream();
  let number = 0;
  for await (const line of textLines(input, lineAtMost)) {
    number += 1;
    if (line.trim() === "") continue;
    const { id, grade, error } = gradeLine(line, `line ${number}`);
    const told =
      grade === undefined
        ? { id, error }
        : {
            id,
            correct: grade.correct,
            reason: grade.reason,
            correct_without_fence: grade.correctWithoutFence,
          };
    if (grade === undefined) process.exitCode = exitCodes.failed;
    process.stdout.write(`${JSON.stringify(told)}\n`);
  }
}

async function opened(file: string): Promise<FileHandle> {
  try {
    return await open(file);
  } catch (cause) {
    const message = `${file} cannot be read: ${(cause as Error).message}`;
    throw new ShinkenError("bad_request", message, { path: "file", cause });
  }
}
