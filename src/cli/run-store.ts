/** The run store as commands open it. */
import type { Command } from "commander";
import { accessSync, constants } from "node:fs";
import type { RunStore } from "../rollout/store/index.js";

export interface StoreOption {
  store?: string;
}

/** Adds the option that names the store. */
export function storeOption(command: Command): Command {
  return command.option("--store <file>", "run store (default: runs.db in the state folder)");
}

/** Gives what `work` gives. A store of an older version is migrated where its file may be written. */
export async function readingStore<T>(
  path: string | undefined,
  work: (store: RunStore) => T,
): Promise<Awaited<T>> {
  const { defaultRunStore, openRunStore } = await import("../rollout/store/index.js");
  const file = path ?? defaultRunStore();
  // Where there is none, reading makes none, and says so.
  const store = openRunStore(file, { readonly: !isWritable(file) });
  try {
    return await work(store);
  } finally {
    store.close();
  }
}

export async function writingStore<T>(
  path: string | undefined,
  work: (store: RunStore) => T,
): Promise<Awaited<T>> {
  const { openRunStore } = await import("../rollout/store/index.js");
  const store = openRunStore(path);
  try {
    return await work(store);
  } finally {
    store.close();
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
