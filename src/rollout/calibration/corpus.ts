/** Reads label files and recorded verdicts from disk. */
import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import { parseDocument } from "../../env/task/index.js";
import { ShinkenError } from "../../errors/index.js";
import { parseOrThrow } from "../../errors/parse.js";
import { parseRecord, type RecordLine } from "./record.js";
import { type LabelFile, labelFile, type StateSpec } from "./schema.js";

/** An end state with what its file says of all of them. */
export type EndState = Omit<StateSpec, "id" | "task" | "by"> & {
  /** `TASK/ID`, unique in the corpus. */
  id: string;
  task: string;
  by: string;
  /** The file that it was read from. */
  file: string;
};

export interface Corpus {
  states: EndState[];
  /** The folder of tasks that the files name, if they do. */
  tasks: string | undefined;
}

const LABEL_FILE = /\.(ya?ml|json)$/;
const RECORD_FILE = /\.jsonl$/;
/** A label file larger than this is a mistake. */
const FILE_LIMIT = 16 * 1024 * 1024;

/** Whether a path is named like a file of recorded verdicts. */
export function isRecord(path: string): boolean {
  return RECORD_FILE.test(path);
}

/** Loads a label file, or all that lie directly in a folder, in the order of their names. Rejects with `bad_request`. */
export async function loadCorpus(path: string): Promise<Corpus> {
  const states: EndState[] = [];
  const ids = new Map<string, string>();
  let tasks: { folder: string; file: string } | undefined;
  for (const file of await labelFiles(path)) {
    const parsed = await parseLabels(file);
    if (parsed.tasks !== undefined) {
      const folder = normalize(join(dirname(file), parsed.tasks));
      if (tasks !== undefined && tasks.folder !== folder)
        throw refused(file, "tasks", `${folder} here, and ${tasks.folder} in ${tasks.file}`);
      tasks = { folder, file };
    }
    for (const [index, spec] of parsed.states.entries()) {
      const state = endStateOf(spec, parsed, file);
      const before = ids.get(state.id);
      if (before !== undefined)
        throw refused(file, `states[${index}].id`, `"${state.id}" is already a state of ${before}`);
      ids.set(state.id, file);
      states.push(state);
    }
  }
  return { states, tasks: tasks?.folder };
}

/** Loads a file of recorded verdicts. Rejects with `bad_request`. */
export async function loadRecord(file: string): Promise<RecordLine[]> {
  return parseRecord(await readText(file), file);
}

function endStateOf(spec: StateSpec, file: LabelFile, path: string): EndState {
  const { id, task = file.task ?? "", by = file.by ?? "", ...rest } = spec;
  return { ...rest, id: `${task}/${id}`, task, by, file: path };
}

async function labelFiles(path: string): Promise<string[]> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() === true) return [path];
  if (found?.isDirectory() !== true) throw refused(path, undefined, "no such file or folder");
  const files = (await readdir(path)).filter((name) => LABEL_FILE.test(name)).sort();
  if (files.length > 0) return files.map((name) => join(path, name));
  throw refused(path, undefined, "holds no label files (.yaml, .yml or .json)");
}

async function parseLabels(file: string): Promise<LabelFile> {
  const text = await readText(file);
  try {
    return parseOrThrow(labelFile, parseDocument(text, file), "bad_request");
  } catch (error) {
    if (!(error instanceof ShinkenError)) throw error;
    // The parser of documents is that of tasks, and calls what is wrong a wrong task.
    const { message, path, suggestion } = error;
    throw new ShinkenError("bad_request", message.startsWith(file) ? message : `${file}: ${message}`, {
      path,
      suggestion,
      cause: error,
    });
  }
}

async function readText(file: string): Promise<string> {
  const found = await stat(file).catch((error: unknown) => {
    throw refused(file, undefined, (error as NodeJS.ErrnoException).code ?? "unreadable");
  });
  if (found.size > FILE_LIMIT) throw refused(file, undefined, `larger than ${FILE_LIMIT} bytes`);
  return readFile(file, "utf8").catch((error: unknown) => {
    throw refused(file, undefined, (error as NodeJS.ErrnoException).code ?? "unreadable");
  });
}

function refused(file: string, at: string | undefined, why: string): ShinkenError {
  return new ShinkenError("bad_request", `${file}: ${at === undefined ? "" : `${at}: `}${why}`, {
    path: at ?? file,
    suggestion:
      at === undefined
        ? "name a label file (.yaml, .json), a folder of them, or recorded verdicts (.jsonl)"
        : undefined,
  });
}
