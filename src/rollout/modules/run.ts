/** The harness of modules: their tests on a real guest, or against what one answered before. */
import { existsSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { runSteps } from "../../env/setup/steps.js";
import { ShinkenError } from "../../errors/index.js";
import { parseOrThrow } from "../../errors/parse.js";
import type { ExecResult, SandboxProvider } from "../../sandbox/sandbox.js";
import {
  askModule,
  type Json,
  jsonEquals,
  type Module,
  readModuleFolder,
  runGraderCommand,
  MachineView,
} from "../../verifiers/index.js";
import {
  type ModuleCase,
  type ModuleTest,
  readModuleTests,
  type RecordedAnswer,
  type Recording,
  recording,
} from "./spec.js";

export interface ModuleReport {
  name: string;
  version: string;
  /** `guest`: a machine was asked; `recording`: what one answered before. */
  from: "guest" | "recording";
  cases: { test: string; ask: string; ok: boolean; why: string }[];
  ok: boolean;
}

export interface ModuleOptions {
  /** Makes the machines; null: only recordings are asked. */
  provider: SandboxProvider | null;
  /** Keeps what the guest answers in the module's folder. */
  record?: boolean;
}

type Ask = (argv: string[], stdin: string) => Promise<ExecResult>;

const CASE_TIMEOUT_MS = 30_000;
const OUTPUT_LIMIT = 16 * 1024 * 1024;
const seed = new Uint8Array(32);

/** Tests the module of a folder. Rejects with `bad_task` for a folder that is no module, and with what a machine fails of. */
export async function testModule(folder: string, options: ModuleOptions): Promise<ModuleReport> {
  const module = readModuleFolder(folder);
  const { name, version } = module.manifest;
  const cases: ModuleReport["cases"] = [];
  for (const test of readModuleTests(folder)) {
    const file = `${folder}/recorded/${test.name}.json`;
    if (options.provider === null) {
      const ask = asked(test, readRecording(file, module));
      for (const one of test.cases) cases.push(await judgeCase(module, test, one, ask(one)));
      continue;
    }
    const answers: RecordedAnswer[] = [];
    await onGuest(options.provider, test, async (ask) => {
      for (const one of test.cases) {
        const noted: Ask = async (argv, stdin) => {
          const result = await ask(argv, stdin);
          answers.push(answerOf(one, result));
          return result;
        };
        cases.push(await judgeCase(module, test, one, noted));
      }
    });
    if (options.record === true) await keep(file, { module: module.digest, image: test.image, answers });
  }
  return {
    name,
    version,
    from: options.provider === null ? "recording" : "guest",
    cases,
    ok: cases.every(({ ok }) => ok),
  };
}

/** Sets a machine up and hands `work` a way to run the grader's commands in its grade fork, one fork for each command. */
async function onGuest(
  provider: SandboxProvider,
  test: ModuleTest,
  work: (ask: Ask) => Promise<void>,
): Promise<void> {
  const golden = await provider.imageGolden(test.image, {});
  try {
    const machine = await golden.fork({ seed });
    try {
      const noAssets = (path: string): Promise<never> =>
        Promise.reject(new ShinkenError("bad_task", `a module's test has no asset "${path}"`));
      await runSteps(machine, test.setup, { readAsset: noAssets, at: `${test.name}.setup` });
      await work(async (argv, stdin) => {
        const fork = await machine.fork("grade");
        try {
          return await runGraderCommand(new MachineView(fork), {
            argv,
            stdin,
            timeoutMs: CASE_TIMEOUT_MS,
            maxOutputBytes: OUTPUT_LIMIT,
          });
        } finally {
          await fork.close();
        }
      });
    } finally {
      await machine.close();
    }
  } finally {
    golden.close();
  }
}

async function judgeCase(
  module: Module,
  test: ModuleTest,
  one: ModuleCase,
  ask: Ask,
): Promise<ModuleReport["cases"][number]> {
  const why = await faultOf(module, one, ask);
  return { test: test.name, ask: one.ask, ok: why === "", why };
}

/** What is wrong with an answer; empty if nothing is. */
async function faultOf(module: Module, one: ModuleCase, ask: Ask): Promise<string> {
  const wanted = one.malformed ?? one.absent;
  try {
    const answer = await askModule(module, one, ask);
    if ("absent" in answer) {
      if (one.absent !== undefined && answer.absent.includes(one.absent)) return "";
      return `it says that ${answer.absent}`;
    }
    if (answer.type !== "json") return `it answers ${answer.type}`;
    if (wanted !== undefined) return `it answers ${JSON.stringify(answer.value)} instead of "${wanted}"`;
    const [seen, expected] = [without(answer.value, one.ignore), without(one.result ?? null, one.ignore)];
    return jsonEquals(seen, expected)
      ? ""
      : `wanted ${JSON.stringify(expected)}, saw ${JSON.stringify(seen)}`;
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    const content = error instanceof Error && error.name === "ContentFault";
    return content && one.malformed !== undefined && said.includes(one.malformed) ? "" : said;
  }
}

/** A value without some fields, at any depth. */
function without(value: Json, fields: readonly string[]): Json {
  if (Array.isArray(value)) return value.map((item) => without(item, fields));
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => !fields.includes(key));
  return Object.fromEntries(kept.map(([key, field]) => [key, without(field, fields)]));
}

function answerOf(one: ModuleCase, result: ExecResult): RecordedAnswer {
  const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
  return {
    ask: one.ask,
    args: one.args,
    exit_code: result.exitCode ?? -1,
    stdout: text(result.stdout),
    stderr: text(result.stderr),
  };
}

async function keep(file: string, made: Recording): Promise<void> {
  await mkdir(file.slice(0, file.lastIndexOf("/")), { recursive: true });
  await writeFile(file, `${JSON.stringify(made, null, 2)}\n`);
}

function readRecording(file: string, module: Module): Recording {
  if (!existsSync(file))
    throw new ShinkenError("bad_task", `${file} is missing`, {
      suggestion: "record it: shinken verifier module --record",
    });
  const made = parseOrThrow(recording, JSON.parse(readFileSync(file, "utf8")), "bad_task", [file]);
  if (made.module === module.digest) return made;
  throw new ShinkenError("bad_task", `${file} was recorded of another version of the module`, {
    suggestion: "record it anew: shinken verifier module --record",
  });
}

/** Answers a case from a recording: the next answer to the same question. */
function asked(test: ModuleTest, made: Recording): (one: ModuleCase) => Ask {
  return (one) => () => {
    const found = made.answers[test.cases.indexOf(one)];
    if (found === undefined || found.ask !== one.ask || !jsonEquals(found.args, one.args))
      return Promise.reject(new ShinkenError("bad_task", `the recording of ${test.name} lacks this case`));
    const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
    return Promise.resolve({
      exitCode: found.exit_code,
      signal: null,
      stdout: bytes(found.stdout),
      stderr: bytes(found.stderr),
      stdoutDropped: 0,
      stderrDropped: 0,
      timedOut: false,
      guestMs: 0,
    } as ExecResult);
  };
}
