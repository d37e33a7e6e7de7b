/** Recorded episodes for tests: sessions on real machines whose bundles lie in a folder of the test's own. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";
import { loadTasks, TaskEnvironmentFactory } from "../../../src/env/index.js";
import type { LoadedTask } from "../../../src/env/task/index.js";
import {
  type Bundle,
  type Channel,
  readBundle,
  readEvents,
  RecordedFactory,
  Recorder,
} from "../../../src/replay/index.js";
import { RecordedEnvironment } from "../../../src/replay/record/environment.js";
import { sessionOpener, type SessionOpener } from "../../../src/rollout/replays/rerun-opener.js";
import type { MicrovmProvider } from "../../../src/sandbox/microvm/provider.js";
import type { Environment } from "../../../src/env/environment.js";

const demo = fileURLToPath(new URL("../../../tasks/demo", import.meta.url));

export async function demoTasks(): Promise<readonly LoadedTask[]> {
  return (await loadTasks(demo)).tasks;
}

/** A folder that is removed after the test file. */
export function folderForFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "shinken-replays-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface Studio {
  factory: RecordedFactory;
  recorder: Recorder;
  folder: string;
  opener: SessionOpener;
  close: () => Promise<void>;
}

/** Records what is played on the provider's machines, and opens sessions that repeat it. */
export function studio(
  provider: MicrovmProvider,
  tasks: readonly LoadedTask[],
  folder: string,
  { memory = provider, states = false }: { memory?: MicrovmProvider; states?: boolean } = {},
): Studio {
  const inner = new TaskEnvironmentFactory({ provider, tasks });
  const recorder = new Recorder({ folder, runtime: "shinken-gym/test", states });
  const { name, machineAbi } = provider;
  const facts = { provider: name, machineAbi, memory: provider.memory, taskSet: null };
  const opener = sessionOpener({ provider: memory, tasks });
  return {
    factory: new RecordedFactory(inner, recorder, facts),
    recorder,
    folder,
    opener,
    close: async () => {
      await recorder.close();
      opener.close();
      inner.close();
    },
  };
}

/** Where the present episode of a recorded session is written. */
export function bundleOf(session: Environment): { episode: string; file: string } {
  if (!(session instanceof RecordedEnvironment) || session.bundle === null)
    throw new Error("the session is not recorded");
  return session.bundle;
}

/** Plays the actions, one step each, and gives the episode's bundle as read from disk. */
export async function recorded(
  { factory, folder }: Studio,
  task: string,
  actions: readonly unknown[],
  reset: Parameters<Environment["reset"]>[0] = {},
): Promise<Bundle> {
  const session = await factory.create(task);
  let file: string;
  try {
    await session.reset(reset);
    ({ file } = bundleOf(session));
    for (const action of actions) await session.step([action]);
  } finally {
    await session.close();
  }
  return readBundle(join(folder, file));
}

type Event = Record<string, unknown> & { channel: Channel };

/**
 * A copy of a bundle in which `change` has had its way with every event; null leaves one out. It is a whole file of its own, in the
 * same folder.
 */
export async function forged(
  { recorder, folder }: Pick<Studio, "recorder" | "folder">,
  bundle: Bundle,
  change: (event: Event) => Event | null,
): Promise<Bundle> {
  const copy = recorder.open({ task: "forged" });
  for await (const event of readEvents(bundle.file)) {
    if ("foreign" in event) continue;
    const changed = change(structuredClone(event));
    if (changed === null) continue;
    const { channel, seq: _seq, step, t_guest, t_wall: _wall, action_id, ...payload } = changed;
    const at = { step: step as number, guest: t_guest as number | null, action: action_id as string };
    copy.event(channel, at, payload);
  }
  await copy.finish();
  return readBundle(join(folder, copy.file));
}
