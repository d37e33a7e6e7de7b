/**
 * One module in a JavaScript engine compiled to WebAssembly (QuickJS). It has no files, no sockets, no host objects and no time;
 * every job gets a fresh engine in a memory that cannot grow beyond what the node says. Its time ends with this thread.
 */
import { posix } from "node:path";
import type { QuickJSContext, QuickJSHandle, QuickJSRuntime } from "quickjs-emscripten-core";
import { dropInstance, newInstance } from "./instances.js";
import { preludeOf } from "./prelude.js";
import type { CodeJob, CodeReply, ReadReply, ReadRequest } from "./protocol.js";

/** Bytes of the engine's stack; deeper recursion is an error of the module. */
const STACK_LIMIT = 512 * 1024;
/** Characters of an error that are shown. */
const ERROR_SHOWN = 1_000;

/** Runs a job. Never rejects for what a module does; `module` and `content` say whose fault an error is. */
export async function runCode(job: CodeJob): Promise<CodeReply> {
  const modules = await plainModules(job.modules);
  if ("module" in modules) return modules;
  const instance = await newInstance(job.memoryMib);
  const runtime = instance.engine.newRuntime({ maxStackSizeBytes: STACK_LIMIT });
  runtime.setModuleLoader(
    (name) =>
      modules.sources[name] ?? { error: new Error(`there is no module "${name}" among the grading assets`) },
    (base, name) => (name.startsWith(".") ? posix.join(posix.dirname(base), name) : name),
  );
  const context = runtime.newContext();
  const reads = new Reads(job, context, runtime);
  try {
    return await evaluate(job, context, runtime, reads);
  } finally {
    reads.close();
    context.dispose();
    runtime.dispose();
    dropInstance(instance);
  }
}

async function evaluate(
  job: CodeJob,
  context: QuickJSContext,
  runtime: QuickJSRuntime,
  reads: Reads,
): Promise<CodeReply> {
  reads.offer();
  context.unwrapResult(context.evalCode(preludeOf(job.nowMs, job.seed), "prelude.js")).dispose();
  const input = JSON.stringify(JSON.stringify({ params: job.params, episode: job.episode }));
  const main = `import grade from ${JSON.stringify(job.entry)};\nexport default globalThis.__grade(grade, ${input});`;
  const loaded = context.evalCode(main, "main.js", { type: "module" });
  if (loaded.error !== undefined) return failure(context, loaded.error);
  // A module with a top-level await answers with a promise of its exports, any other with the exports.
  const exports = await settle(context, runtime, reads, loaded.value);
  if ("reply" in exports) return exports.reply;
  const promise = context.getProp(exports.handle, "default");
  exports.handle.dispose();
  const result = await settle(context, runtime, reads, promise);
  if ("reply" in result) return result.reply;
  const value = context.getString(result.handle);
  result.handle.dispose();
  return { value };
}

/** Waits for a promise of the engine, running its jobs. Takes the handle over. */
async function settle(
  context: QuickJSContext,
  runtime: QuickJSRuntime,
  reads: Reads,
  promise: QuickJSHandle,
): Promise<{ handle: QuickJSHandle } | { reply: CodeReply }> {
  for (;;) {
    const jobs = runtime.executePendingJobs();
    if (jobs.error !== undefined) {
      promise.dispose();
      return { reply: failure(context, jobs.error) };
    }
    const state = context.getPromiseState(promise);
    if (state.type === "fulfilled") {
      // What is no promise is its own value.
      if (state.notAPromise !== true) promise.dispose();
      return { handle: state.value };
    }
    if (state.type === "rejected") {
      promise.dispose();
      return { reply: failure(context, state.error) };
    }
    if (reads.outstanding === 0) {
      promise.dispose();
      return { reply: { module: "the module waits for something that never comes" } };
    }
    await reads.next();
  }
}

function failure(context: QuickJSContext, error: QuickJSHandle): CodeReply {
  const told: unknown = context.dump(error);
  error.dispose();
  const { name, message } = (typeof told === "object" && told !== null ? told : { message: told }) as {
    name?: unknown;
    message?: unknown;
  };
  const text = String(message).slice(0, ERROR_SHOWN);
  return name === "ContentFault"
    ? { content: text }
    : { module: `${typeof name === "string" ? name : "Error"}: ${text}` };
}

/** The module's reads: each is a promise of the engine that the grader's reply settles. */
class Reads {
  outstanding = 0;
  private readonly waiting = new Map<number, (reply: ReadReply) => void>();
  private readonly replies: ReadReply[] = [];
  private wake: (() => void) | undefined;
  private count = 0;

  private readonly job: CodeJob;
  private readonly context: QuickJSContext;
  private readonly runtime: QuickJSRuntime;

  constructor(job: CodeJob, context: QuickJSContext, runtime: QuickJSRuntime) {
    this.job = job;
    this.context = context;
    this.runtime = runtime;
    job.port.on("message", (reply: ReadReply) => {
      this.replies.push(reply);
      this.wake?.();
    });
  }

  /** Puts the function that reads into the engine. */
  offer(): void {
    const { context } = this;
    const ask = context.newFunction("ask", (query) => {
      const deferred = context.newPromise();
      const number = this.count++;
      this.outstanding++;
      this.waiting.set(number, (reply) => {
        const { number: _, ...rest } = reply;
        const text = context.newString(JSON.stringify(rest));
        deferred.resolve(text);
        text.dispose();
        deferred.dispose();
      });
      const request: ReadRequest = { number, query: context.getString(query) };
      this.job.port.postMessage(request);
      return deferred.handle.dup();
    });
    context.setProp(context.global, "__ask", ask);
    ask.dispose();
  }

  /** Waits for replies and hands them to the module. */
  async next(): Promise<void> {
    while (this.replies.length === 0) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    for (const reply of this.replies.splice(0)) {
      this.outstanding--;
      this.waiting.get(reply.number)?.(reply);
      this.waiting.delete(reply.number);
    }
  }

  close(): void {
    this.job.port.close();
    for (const settle of this.waiting.values()) settle({ number: 0, refused: "the grading has ended" });
    this.waiting.clear();
    this.runtime.executePendingJobs();
  }
}

/** Sources without types. Lines stay where they are. */
async function plainModules(
  modules: Record<string, string>,
): Promise<{ sources: Record<string, string> } | { module: string }> {
  const sources: Record<string, string> = {};
  for (const [name, source] of Object.entries(modules)) {
    if (!/\.m?ts$/.test(name)) {
      sources[name] = source;
      continue;
    }
    const { transform } = await import("sucrase");
    try {
      sources[name] = transform(source, { transforms: ["typescript"], disableESTransforms: true }).code;
    } catch (error) {
      return { module: `${name}: ${error instanceof Error ? error.message : JSON.stringify(error)}` };
    }
  }
  return { sources };
}
