/** From an image to a machine whose agent answers, settled and fit to be frozen. */
import { createHash } from "node:crypto";
import { ShinkenError } from "../../errors/index.js";
import type { ImageInfo } from "../../images/index.js";
import { loadAddon, type NativeDisk, type NativeMachine } from "./addon.js";
import type { Family } from "./family.js";
import { drawIdentity, macBytes } from "./identity.js";
import { MicrovmSandbox } from "./sandbox.js";
import { nativeError } from "./transport.js";
import { fillPageCache } from "./warm.js";

/** A boot takes about 1.5 G instructions; more than this is a kernel that hangs. */
const BOOT_INSTRUCTIONS = 20_000_000_000;
const BOOT_GUEST_MS = 600_000;
const BOOT_WALL_MS = 600_000;
/** Guest time in which the kernel's deferred work comes to an end before a machine is frozen; idle, it costs little. */
const SETTLE_MS = 5_000;
/** Bytes of console kept to explain a failed boot. */
const CONSOLE_TAIL = 4096;

/** Disks as goldens record them. */
export function disksOf(image: ImageInfo): NativeDisk[] {
  return [{ path: image.root, identity: image.digest }];
}

/**
 * Boots an image until its agent answers. Everything random derives from the image's digest: two boots of one image with one
 * monitor give the same machine, which is no secret since every fork is reseeded.
 * @throws ShinkenError `machine_died` with the console's last lines.
 */
export async function bootImage(
  image: ImageInfo,
  family: Family,
  onConsole?: (bytes: Uint8Array) => void,
): Promise<MicrovmSandbox> {
  const seed = createHash("sha256").update(`shinken boot ${image.digest}`).digest();
  const identity = drawIdentity(seed, "boot");
  const native = await loadAddon()
    .bootMachine({
      program: image.kernel,
      initrd: image.initrd,
      bootargs: image.appendBase,
      memoryMiB: family.memoryMiB,
      disks: disksOf(image),
      rngSeed: seed,
      generationId: identity.generationId,
      mac: macBytes(identity.mac),
      memory: family.household.memory,
    })
    .catch((error: unknown) => {
      throw nativeError(error);
    });
  const sandbox = new MicrovmSandbox({
    id: `boot-${image.digest.slice(0, 8)}`,
    native,
    family,
    descent: { kind: "boot", seed: identity.childSeed },
    firstStream: 1,
    address: { mac: identity.mac, ip: identity.ip },
  });
  try {
    await untilReady(sandbox, native, onConsole);
    const { generation, entropy, machineId, bootId, mac, ip } = identity;
    // The clock of every setup is the release's date: what is made then looks the same whenever it is made.
    const clock = { seconds: image.releaseDate, nanoseconds: 0 };
    await sandbox.agent.uniqueness({
      generation,
      entropy,
      hostname: "golden",
      machineId,
      bootId,
      mac,
      ip,
      clock,
    });
    return sandbox;
  } catch (error) {
    await sandbox.close();
    throw error;
  }
}

async function untilReady(
  sandbox: MicrovmSandbox,
  native: NativeMachine,
  onConsole?: (bytes: Uint8Array) => void,
): Promise<void> {
  let tail = Buffer.alloc(0);
  sandbox.transport.listen((bytes) => {
    tail = Buffer.concat([tail, bytes]).subarray(-CONSOLE_TAIL);
    onConsole?.(bytes);
  });
  try {
    const limits = { maxInstructions: BOOT_INSTRUCTIONS, maxGuestMs: BOOT_GUEST_MS, wallMs: BOOT_WALL_MS };
    await sandbox.agent.hello(limits);
  } catch (cause) {
    const { instructions } = native.stats();
    const why = cause instanceof Error ? cause.message : String(cause);
    const text = tail.toString("utf8").trim().split("\n").slice(-12).join("\n");
    throw new ShinkenError(
      "machine_died",
      `the boot failed after ${instructions} instructions: ${why}\n${text}`,
      { cause },
    );
  } finally {
    sandbox.transport.listen(undefined);
  }
}

/** Fills caches and lets the kernel come to rest, so that children start with as little to do as can be. */
export async function settle(sandbox: MicrovmSandbox, warm: boolean): Promise<void> {
  if (warm) await fillPageCache(sandbox.agent);
  await sandbox.agent.wait(SETTLE_MS);
}
