/**
 * Instances of SQLite compiled to WebAssembly, for the databases of one verifier thread. Each has its own memory, file system and
 * state, and sees one database in its life; all that they share is code.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { compileFunction } from "node:vm";
import type { SqlJsStatic } from "sql.js";
import { ShinkenError } from "../../../errors/index.js";
import { type MemorySize, wasm, type WasmMemory } from "../../wasm/interface.js";
import { withImportedMemory } from "../../wasm/import-memory.js";
import { Memories } from "../../wasm/memories.js";
import { type StillCrypto, StillDate, stillCrypto, stillPerformance, stillTimers } from "./still.js";

/** 8 MiB, of which the stack has five, and 512 MiB. */
const SIZE: MemorySize = { initial: 128, maximum: 8_192 };
/** Instances that are made ahead, and memories that are kept for them. */
const SPARES = 2;

export interface Instance {
  sql: SqlJsStatic;
  memory: WasmMemory;
  /** `asked`: what it answers next may depend on what it has answered. */
  crypto: StillCrypto;
}

const require = createRequire(import.meta.url);

type Instantiate = (imports: object, done: (instance: object) => void) => object;
type Initialise = (options: { instantiateWasm: Instantiate }) => Promise<SqlJsStatic>;

interface Code {
  module: object;
  /** Evaluates the package's module anew: it keeps one instance for each time it is evaluated. */
  evaluate: (crypto: StillCrypto) => Initialise;
}

let code: Promise<Code> | undefined;
const memories = new Memories(SIZE, SPARES);
const spares: Instance[] = [];

async function load(): Promise<Code> {
  const path = require.resolve("sql.js");
  const names = ["exports", "require", "module", "__filename", "__dirname", "Date", "performance"];
  // Compiled once: parsing the package costs more than all the rest of an instance.
  const body = compileFunction(readFileSync(path, "utf8"), [...names, "setTimeout", "clearTimeout"], {
    filename: path,
  }) as (...words: unknown[]) => void;
  const { setTimeout, clearTimeout } = stillTimers;
  return {
    module: await wasm.compile(withImportedMemory(readFileSync(path.replace(/\.js$/, ".wasm")), SIZE)),
    evaluate: (crypto) => {
      const module = { exports: {} };
      const need = (name: string): unknown => (name === "node:crypto" ? crypto : require(name));
      const seen = [StillDate, stillPerformance, setTimeout, clearTimeout];
      body(module.exports, need, module, path, dirname(path), ...seen);
      return module.exports as Initialise;
    },
  };
}

/** An instance that no database has touched. */
async function make(): Promise<Instance> {
  code ??= load();
  const { module, evaluate } = await code;
  const crypto = stillCrypto();
  const memory = memories.take();
  const sql = await evaluate(crypto)({
    instantiateWasm: (imports, done) => {
      done(new wasm.Instance(module, { ...imports, env: { memory } }));
      return {};
    },
  });
  return { sql, memory, crypto };
}

/** One made ahead, or now. Rejects with `grader_error`. */
export async function takeInstance(): Promise<Instance> {
  const spare = spares.pop();
  if (spare !== undefined) return spare;
  try {
    return await make();
  } catch (cause) {
    throw new ShinkenError("grader_error", `SQLite did not start: ${String(cause)}`, { cause });
  }
}

/** Gives up an instance, which nobody may call any more. */
export function dropInstance({ memory }: Instance): void {
  memories.giveBack(memory);
}

/** Makes instances ahead until there are enough, or until `busy` says that there is other work. */
export async function makeSpares(busy: () => boolean): Promise<void> {
  while (spares.length < SPARES && !busy()) {
    spares.push(await make());
    await new Promise((resolve) => setImmediate(resolve));
  }
}
