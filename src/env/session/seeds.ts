/** Where randomness comes from: one run seed, given to reset, and the path of forks from it. */
import { hkdfSync, randomInt } from "node:crypto";
import { ShinkenError } from "../../errors/index.js";

const salt = "shinken fork 1";
const forkSeedBytes = 32;

/** Refuses what is not an integer in [0, 2^53): any rounding would make two seeds one. */
export function checkSeed(seed: number): number {
  if (!Number.isSafeInteger(seed) || seed < 0) {
    throw new ShinkenError("bad_request", "seed: must be an integer from 0 to 2^53 - 1", { path: "seed" });
  }
  return seed;
}

/** The 32 bytes from which a fork draws everything random: HKDF-SHA256 of the run seed with the fork's path. */
export function forkSeed(runSeed: number, path: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", seedBytes(runSeed), salt, path, forkSeedBytes));
}

/** A seed for parameters or a further episode, drawn from the run seed. */
export function derivedSeed(runSeed: number, path: string): number {
  const bytes = Buffer.from(hkdfSync("sha256", seedBytes(runSeed), salt, path, 6));
  return bytes.readUIntBE(0, 6);
}

/** A seed from the host's generator, for an episode that nobody seeded. */
export function randomSeed(): number {
  return randomInt(2 ** 48 - 1);
}

function seedBytes(seed: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(seed));
  return bytes;
}
