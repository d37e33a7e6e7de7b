/**
 * A verifier thread: gets bytes and plain data, gives plain data back, and never sees a machine. What a job needs is loaded with the
 * first job of its kind: all of it together takes longer than most verdicts.
 */
import { pathToFileURL } from "node:url";
import type { Json } from "./assertions/json-value.js";
import type { GroundAssertion } from "./assertions/ground.js";
import { querySqliteAll, type SqliteQuestion, type SqliteReply } from "./channels/sqlite/engine.js";
import type { DatabaseFiles } from "./channels/sqlite/open.js";
import { Progress } from "./channels/sqlite/progress.js";
import { type ParsedQuery, parseFile } from "./channels/parsers.js";
import type { Score, ScorerReply } from "./scorer/library.js";
import { type Answer, ContentFault, type Judgement } from "./value.js";

export type Job =
  | { do: "judge"; assertion: GroundAssertion; answer: Answer }
  | { do: "parse"; bytes: Uint8Array; query: ParsedQuery; what: string }
  | { do: "sqlite"; files: DatabaseFiles; questions: SqliteQuestion[]; progress: SharedArrayBuffer }
  | { do: "score"; file: string; id: string; input: Json };

export type JobResult = Judgement | Answer | SqliteReply[] | ScorerReply;

/** Faults of the content cross the thread's border as data: a class would arrive as a plain error. */
export type Reply = { ok: JobResult } | { fault: string };

async function perform(job: Job): Promise<JobResult> {
  switch (job.do) {
    case "judge":
      return (await import("./assertions/judge.js")).judge(job.assertion, job.answer);
    case "parse":
      return parseFile(job.bytes, job.query, job.what);
    case "sqlite":
      return querySqliteAll(job.files, job.questions, new Progress(job.progress));
    case "score": {
      const library = (await import(pathToFileURL(job.file).href)) as { default: Score };
      return library.default(job.id, job.input);
    }
  }
}

export default async function run(job: Job): Promise<Reply> {
  try {
    return { ok: await perform(job) };
  } catch (error) {
    if (error instanceof ContentFault) return { fault: error.message };
    throw error;
  }
}
