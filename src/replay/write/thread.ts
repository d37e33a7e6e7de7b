/** The recorder's thread: writes the bundles of a process. What it is asked for is in `requests.ts`. */
import { parentPort, workerData } from "node:worker_threads";
import { isDiskFull } from "../../errors/disk.js";
import { zstdReady } from "../format/zstd.js";
import { BlobStore } from "./blobs.js";
import { BundleState } from "./bundle-state.js";
import { type Batch, cells, type RecorderReply, type RecorderRequest, type ThreadData } from "./requests.js";
import { Retention } from "./retention.js";
import { Redactor } from "./secrets.js";

const bundles = new Map<number, BundleState>();
/** By session. */
const redactors = new Map<number, Redactor>();
const stores = new Map<string, BlobStore>();
const { cells: shared, budgetBytes } = workerData as ThreadData;
const retention = new Retention(budgetBytes ?? Number.POSITIVE_INFINITY);
const port = parentPort;
if (port === null) throw new Error("this file is a worker thread of the recorder");

await zstdReady;
port.on("message", ({ first, requests }: Batch) => {
  const replies: RecorderReply[] = [];
  for (const [at, request] of requests.entries()) {
    serve(request, replies);
    Atomics.store(shared, cells.reached, (first + at) | 0);
  }
  if (Atomics.exchange(shared, cells.awaited, 0) === 1) replies.push("reached");
  if (replies.length > 0) port.postMessage(replies);
});

function serve(request: RecorderRequest, replies: RecorderReply[]): void {
  const id = Array.isArray(request) ? request[0] : request.id;
  try {
    if (Array.isArray(request)) {
      const bundle = bundles.get(id);
      if (request.length === 1) bundle?.flush();
      else bundle?.add(request);
    } else if (request.kind === "open") {
      retention.watch(request.folder);
      const redactor = redactors.get(request.session) ?? new Redactor(request.secrets);
      redactors.set(request.session, redactor);
      bundles.set(id, new BundleState(request, storeOf(request.folder), redactor));
    } else if (request.kind === "forget") redactors.delete(id);
    else if (request.kind === "finish") void finish(id);
    else if (request.kind === "stop") void retention.stop().then(() => port?.postMessage(["stopped"]));
    else {
      bundles.get(id)?.abandon();
      bundles.delete(id);
    }
  } catch (error) {
    replies.push(fail(id, error));
  }
}

async function finish(id: number): Promise<void> {
  const bundle = bundles.get(id);
  if (bundle === undefined) return;
  let reply: RecorderReply;
  try {
    await bundle.finish();
    bundles.delete(id);
    reply = { id, finished: { bytes: bundle.bytes } };
    retention.grown(bundle.folder, bundle.bytes);
  } catch (error) {
    reply = fail(id, error);
  }
  port?.postMessage([reply]);
}

/** This bundle records no more; what is on disk stays, as a clean prefix. */
function fail(id: number, error: unknown): RecorderReply {
  bundles.get(id)?.abandon();
  bundles.delete(id);
  const full = isDiskFull(error);
  const message = error instanceof Error ? error.message : String(error);
  return { id, failed: { code: full ? "disk_full" : "recording_failed", message } };
}

function storeOf(folder: string): BlobStore {
  const known = stores.get(folder) ?? new BlobStore(folder);
  stores.set(folder, known);
  return known;
}
