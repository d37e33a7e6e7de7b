/**
 * Random samples of all forks of one family (a golden's descendants): a sample that turns up twice means that two
 * machines share their generator's state, and the younger one must not be used.
 */
import { createHash } from "node:crypto";

/** Samples remembered; the oldest are forgotten beyond it. */
const MAX_SAMPLES = 65_536;

export class Siblings {
  /** Sample to the seed that it came from; null for the host's entropy. */
  private readonly seen = new Map<string, string | null>();
  private readonly addresses = new Set<string>();

  /**
   * Records a sample. False if another fork showed the same one, unless both came from one and the same seed and
   * path: then equality is what was asked for.
   */
  admit(sample: Uint8Array, seed: Uint8Array | null, path: string): boolean {
    const key = Buffer.from(sample).toString("base64");
    const origin = seed === null ? null : createHash("sha256").update(seed).update(path).digest("base64");
    const known = this.seen.get(key);
    if (known !== undefined) return origin !== null && known === origin;
    if (this.seen.size >= MAX_SAMPLES) {
      const oldest = this.seen.keys().next();
      if (oldest.done !== true) this.seen.delete(oldest.value);
    }
    this.seen.set(key, origin);
    return true;
  }

  /** Records an IP address. False if another fork has it: three random bytes repeat among a few thousand. */
  claim(ip: string): boolean {
    if (this.addresses.has(ip)) return false;
    if (this.addresses.size >= MAX_SAMPLES) this.addresses.clear();
    this.addresses.add(ip);
    return true;
  }
}
