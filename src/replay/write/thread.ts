/** The recorder's thread: writes the bundles of a process. What it is asked for is in `requests.ts`. */
import { parentPort } from "node:worker_threads";
import { zstdReady } from "../format/zstd.js";
import { BlobStore } from "./blobs.js";
import { BundleState } from "./bundle-state.js";
import type { RecorderReply, RecorderRequest } from "./requests.js";

const bundles = new Map<number, BundleState>();
const stores = new Map<string, BlobStore>();
const port = parentPort;
if (port === null) throw new Error("this file is a worker thread of the recorder");

await zstdReady;
port.on("message", (requests: RecorderRequest[]) => {
  const replies: RecorderReply[] = [];
  for (const request of requests) {
    const reply = serve(request);
    if (reply !== null) replies.push(reply);
  }
  if (replies.length > 0) port.postMessage(replies);
});

function serve(request: RecorderRequest): RecorderReply | null {
  const { id } = request;
  try {
    switch (request.kind) {
      case "open":
        bundles.set(id, new BundleState(request, storeOf(request.folder)));
        return null;
      case "event":
        bundles.get(id)?.add(request);
        return null;
      case "flush": {
        const bundle = bundles.get(id);
        bundle?.flush();
        return { id, mark: request.mark, bytes: bundle?.bytes ?? 0 };
      }
      case "finish":
        void finish(id, request.mark);
        return null;
      case "abandon":
        bundles.get(id)?.abandon();
        bundles.delete(id);
        return { id, mark: request.mark, bytes: 0 };
    }
  } catch (error) {
    return fail(id, error);
  }
}

async function finish(id: number, mark: number): Promise<void> {
  const bundle = bundles.get(id);
  let reply: RecorderReply;
  try {
    await bundle?.finish();
    bundles.delete(id);
    reply = { id, mark, bytes: bundle?.bytes ?? 0 };
  } catch (error) {
    reply = fail(id, error);
  }
  port?.postMessage([reply]);
}

/** This bundle records no more; what is on disk stays, as a clean prefix. */
function fail(id: number, error: unknown): RecorderReply {
  bundles.get(id)?.abandon();
  bundles.delete(id);
  const { code } = error as NodeJS.ErrnoException;
  const full = code === "ENOSPC" || code === "EDQUOT";
  const message = error instanceof Error ? error.message : String(error);
  return { id, failed: { code: full ? "disk_full" : "recording_failed", message } };
}

function storeOf(folder: string): BlobStore {
  const known = stores.get(folder) ?? new BlobStore(folder);
  stores.set(folder, known);
  return known;
}
