/**
 * Real machines for tests: one provider for a test file, over the cache folder's image, which is built once if it is
 * missing. Where it cannot be built, the tests that need it skip and say why.
 */
import { afterAll } from "vitest";
import { ShinkenError } from "../../src/errors/index.js";
import { buildImage, openImage } from "../../src/images/index.js";
import { MicrovmProvider, type MicrovmOptions } from "../../src/sandbox/microvm/provider.js";
import { MicrovmSandbox } from "../../src/sandbox/microvm/sandbox.js";
import { runFinishingBoot } from "../../src/sandbox/microvm/program.js";
import type { Sandbox } from "../../src/sandbox/sandbox.js";

export const TEST_IMAGE = "shell";

/** Why there are no real machines here; null if there are. */
let unavailable: string | null | undefined;

/**
 * Null if the image is there or could be built, else a line for people. `buildImage` holds a lock, so that test files which start at
 * once build one image.
 */
export async function machinesUnavailable(): Promise<string | null> {
  if (unavailable !== undefined) return unavailable;
  unavailable = await reason();
  if (unavailable !== null) console.warn(`skipped: no real machines here: ${unavailable}`);
  return unavailable;
}

async function reason(): Promise<string | null> {
  try {
    new MicrovmProvider();
    // For who works on one room while another changes the image: take what is there.
    if (process.env["SHINKEN_TEST_IMAGE"] === "present" && hasImage()) return null;
    await buildImage(TEST_IMAGE, { runFinishingBoot });
    return null;
  } catch (error) {
    if (hasImage()) return null;
    if (error instanceof ShinkenError) return `${error.code}: ${error.message}`;
    throw error;
  }
}

/** An image that is there serves, even if it cannot be brought up to date. */
function hasImage(): boolean {
  try {
    openImage(TEST_IMAGE);
    new MicrovmProvider();
    return true;
  } catch {
    return false;
  }
}

/** A provider that is closed after the test file; a machine that a test left open fails the file. */
export function providerForFile(options: MicrovmOptions = {}): () => MicrovmProvider {
  let provider: MicrovmProvider | undefined;
  afterAll(async () => {
    const open = provider?.openMachines() ?? 0;
    await provider?.close();
    if (open > 0) throw new Error(`${open} machines were left open`);
  });
  return () => (provider ??= new MicrovmProvider(options));
}

/** The machine behind a sandbox, for tests that look below the contract. */
export function microvm(sandbox: Sandbox): MicrovmSandbox {
  if (!(sandbox instanceof MicrovmSandbox)) throw new Error("the sandbox is not a machine");
  return sandbox;
}
