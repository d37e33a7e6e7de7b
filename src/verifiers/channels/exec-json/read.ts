/**
 * A command in the grading fork that prints one JSON value. It runs as root with an environment of its own; that its
 * program comes from the read-only image, whatever the agent did to the machine, is the grading fork's doing.
 */
import { parseJson } from "../../parse/json.js";
import { decodeText } from "../../parse/text.js";
import { ContentFault } from "../../value.js";
import type { ReadChannel } from "../channel.js";
import { DeadlinePassed } from "../../deadline.js";
import type { ExecJsonQuery } from "./query.js";

const ENVIRONMENT = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  HOME: "/root",
  LANG: "C.UTF-8",
  LC_ALL: "C.UTF-8",
};
/** Characters of standard error that evidence shows. */
const STDERR_SHOWN = 300;

export const readExecJson: ReadChannel<ExecJsonQuery> = async (query, context) => {
  const view = await context.view();
  const argv: string[] = [];
  for (const word of query.argv)
    argv.push(typeof word === "string" ? word : await context.placeAsset(word.asset));
  const result = await view.call((sandbox) =>
    sandbox.exec({
      argv,
      cwd: query.cwd,
      env: ENVIRONMENT,
      cleanEnv: true,
      user: "root",
      stdin: query.stdin,
      timeoutMs: query.timeout_ms,
      maxOutputBytes: query.max_bytes,
    }),
  );
  if (result.timedOut)
    throw new DeadlinePassed(`the command ran longer than ${query.timeout_ms} ms of guest time`);
  if (result.exitCode !== 0) {
    const how = result.exitCode === null ? `signal ${result.signal ?? "?"}` : `exit code ${result.exitCode}`;
    const stderr = new TextDecoder().decode(result.stderr.subarray(0, STDERR_SHOWN)).trim();
    throw new ContentFault(`the command ended with ${how}${stderr === "" ? "" : `: ${stderr}`}`);
  }
  if (result.stdoutDropped > 0)
    throw new ContentFault(`the command printed more than ${query.max_bytes} bytes`);
  return { type: "json", value: parseJson(decodeText(result.stdout, "the output"), "the output") };
};
