/** A machine's state in a file, and the machine out of it again. */
import { randomBytes } from "node:crypto";
import { z } from "zod";
import { ShinkenError } from "../../errors/index.js";
import type { CheckpointOptions, SavedState } from "../sandbox.js";
import { loadAddon, type NativeGolden } from "./addon.js";
import { admitted, type ForkSource, logOf, refuseIfClosed } from "./fork.js";
import { MicrovmSandbox } from "./sandbox.js";
import { nativeError } from "./transport.js";

/** What a delta file's note carries beside the machine. */
const noteSchema = z.strictObject({
  /** Where its agent stood. */
  nextStream: z
    .int()
    .min(1)
    .max(2 ** 32),
  address: z.strictObject({ mac: z.string(), ip: z.string() }).nullable(),
  clock: z.strictObject({ seconds: z.int(), nanoseconds: z.int() }).nullable(),
});

/**
 * Writes the machine's present state, or that after a kept step, as its difference from its golden.
 * @throws ShinkenError `bad_request` of a grade fork, or of a machine that descends from no golden; `checkpoint_missing`; `disk_full`;
 * `out_of_memory`.
 */
export async function saveState(
  machine: MicrovmSandbox,
  path: string,
  step: number | undefined,
): Promise<SavedState> {
  const { kind } = machine.descent;
  if (kind === "grade" || kind === "boot") {
    throw new ShinkenError("bad_request", `the state of ${machine.id} is not kept: it is a ${kind} machine`, {
      suggestion: "save that of the machine that it is a fork of",
    });
  }
  const { address, clock } = machine;
  const note: z.infer<typeof noteSchema> = { nextStream: machine.nextStreamAt(step), address, clock };
  const write = (): Promise<SavedState> =>
    machine.native.saveDelta({
      path,
      note: JSON.stringify(note),
      ...(step === undefined ? {} : { step }),
    });
  try {
    if (step !== undefined) return await write();
    // As at a checkpoint: what the machine writes again while it is written down is there twice, with flat memory afterwards, too.
    const { privateBytes } = machine.native.stats();
    return await machine.family.household.admission.during("checkpoint", privateBytes, write);
  } catch (error) {
    throw stateError(error);
  }
}

/**
 * The machine that `saveState` wrote, to the bit and at rest, on the golden that it stands on.
 * @throws ShinkenError `golden_invalid`, also for a file that cannot be read; `out_of_memory`; `host_unsupported` if it is compressed
 * and the host has no Zstandard.
 */
export function openState(
  source: ForkSource,
  path: string,
  checkpoints?: CheckpointOptions,
): Promise<MicrovmSandbox> {
  return admitted(source.family, "ordinary", async () => {
    const start = performance.now();
    const { family } = source;
    let state: NativeGolden | undefined;
    try {
      state = await loadAddon().loadDelta({ path, golden: source.native });
      const { nextStream, address, clock } = noteOf(state.facts().note, path);
      const native = state.fork({ kind: "resume", memory: family.household.memory, ...logOf(checkpoints) });
      const sandbox = new MicrovmSandbox({
        id: `opened-${randomBytes(4).toString("hex")}`,
        native,
        family,
        descent: { kind: "branch", seed: null },
        firstStream: nextStream,
        address,
      });
      await refuseIfClosed(sandbox);
      if (address !== null) family.siblings.claim(address.ip);
      sandbox.clock = clock;
      sandbox.readyMs = performance.now() - start;
      return sandbox;
    } catch (error) {
      throw stateError(error);
    } finally {
      state?.close();
    }
  });
}

function stateError(error: unknown): ShinkenError {
  if (error instanceof ShinkenError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (message.includes("No space left")) {
    return new ShinkenError("disk_full", message, { suggestion: "free some space", cause: error });
  }
  if (code === "zstd_missing") {
    return new ShinkenError("host_unsupported", message, { suggestion: "install libzstd1", cause: error });
  }
  if (code === "file") {
    return new ShinkenError("golden_invalid", message.replace(/^file: /, ""), { cause: error });
  }
  return nativeError(error);
}

function noteOf(text: string, path: string): z.infer<typeof noteSchema> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = null;
  }
  const parsed = noteSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new ShinkenError("golden_invalid", `${path} is no machine's state: its note is another's`);
}
