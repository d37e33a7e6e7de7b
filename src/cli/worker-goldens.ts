/** A worker's goldens: which it holds, how others get them, and how it gets theirs. */
import { basename } from "node:path";
import { ShinkenError } from "../errors/index.js";
import type { LoadedTask } from "../env/task/index.js";
import {
  type ExchangeEvent,
  type ExchangeTally,
  GoldenExchange,
  GoldenInventory,
  type JobQueue,
  type Lease,
  parseWork,
} from "../rollout/queue/index.js";
import { heldGolden } from "../sandbox/microvm/golden-adopt.js";
import { goldenFolder, statePath } from "../sandbox/microvm/golden-folder.js";
import { type GoldenServer, startGoldenServer } from "../server/goldens/index.js";
import { mib } from "./goldens.js";

export interface WorkerGoldensOptions {
  queue: JobQueue;
  node: string;
  tasks: readonly LoadedTask[];
  /** HOST:PORT to give goldens at; nowhere if unsaid. */
  address?: string | undefined;
  /** How others reach that address, where it is not what it says. */
  url?: string | undefined;
  token: string | undefined;
  signal: AbortSignal;
  say: (line: string) => void;
}

export interface WorkerGoldens {
  /** Where others fetch them. */
  url: string | undefined;
  held(): Promise<readonly string[]>;
  /** Before a lease is played. */
  ensure(lease: Lease, signal: AbortSignal): Promise<void>;
  tally(): ExchangeTally & { given: number };
  close(): Promise<void>;
}

export async function openWorkerGoldens(options: WorkerGoldensOptions): Promise<WorkerGoldens> {
  const { queue, node, tasks, token, signal, say } = options;
  const folder = goldenFolder();
  const inventory = new GoldenInventory(tasks, folder);
  const onEvent = (event: ExchangeEvent) => {
    say(told(event));
  };
  const exchange = new GoldenExchange({ queue, node, inventory, folder, token, signal, onEvent });
  const server = options.address === undefined ? null : await serve(options.address, folder, token);
  return {
    url: server === null ? undefined : (options.url ?? server.url),
    held: () => inventory.held(),
    async ensure(lease, ending) {
      if (lease.golden === null) return;
      inventory.learn(parseWork(lease.payload).runSeed);
      await exchange.ensure(lease.golden, ending);
    },
    tally: () => ({ ...exchange.tally, given: server?.given() ?? 0 }),
    close: async () => server?.close(),
  };
}

/** Addresses that say nothing of how others reach them. */
const anywhere: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/** Host and port of `HOST:PORT` or `[HOST]:PORT`. @throws ShinkenError `bad_request` */
export function parseAddress(text: string): { host: string; port: number } {
  const [, six, four, digits] = /^(?:\[([0-9a-f:.]+)\]|([^:\s[\]]+)):(\d{1,5})$/i.exec(text) ?? [];
  const host = six ?? four;
  const port = Number(digits);
  if (host === undefined || port > 65_535)
    throw new ShinkenError("bad_request", `${JSON.stringify(text)} is no address`, {
      path: "golden-address",
      suggestion: "HOST:PORT, for instance 10.0.0.2:7070",
    });
  return { host, port };
}

/** @throws ShinkenError `bad_request` where others could not tell where to go */
export function assertReachable(address: string | undefined, url: string | undefined): void {
  if (address === undefined) {
    if (url === undefined) return;
    throw new ShinkenError("bad_request", "--golden-url says where nothing listens", {
      path: "golden-url",
      suggestion: "--golden-address HOST:PORT",
    });
  }
  if (anywhere.has(parseAddress(address).host) && url === undefined)
    throw new ShinkenError("bad_request", `${address} does not say where other nodes find it`, {
      path: "golden-address",
      suggestion: "bind to the host's own address, or add --golden-url http://HOST:PORT",
    });
}

function serve(address: string, folder: string, token: string | undefined): Promise<GoldenServer> {
  const keyDigits = 64;
  return startGoldenServer({
    ...parseAddress(address),
    token,
    async find(digest) {
      const path = digest.length === keyDigits ? await heldGolden(folder, digest) : statePath(folder, digest);
      return path === null ? null : { path, state: basename(path, ".golden") };
    },
  });
}

function told(event: ExchangeEvent): string {
  const golden = `golden ${event.key.slice(0, 16)}`;
  switch (event.what) {
    case "fetched": {
      const seconds = event.transferMs / 1_000;
      const rate = event.bytes / 1e6 / seconds;
      return `${golden}: fetched from ${event.from}, ${mib(event.bytes)} in ${seconds.toFixed(2)} s, ${rate.toFixed(0)} MB/s`;
    }
    case "failed":
      return `${golden}: not from ${event.from}: ${event.error.message}`;
    case "made":
      return event.asked === 0
        ? `${golden}: no node offers it; it is made here`
        : `${golden}: none of ${event.asked} nodes gave it; it is made here`;
  }
}
