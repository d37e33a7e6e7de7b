/**
 * A small seeded generator: xoshiro128** 1.1 (Blackman and Vigna, "Scrambled linear pseudorandom number generators", ACM
 * TOMS 47, 2021; prng.di.unimi.it), its state filled by SplitMix64 as its authors advise. All draws are whole numbers made
 * by whole-number arithmetic, so that a seed gives the same draws on every platform. Not for secrets.
 */
export class Random {
  private readonly state: Int32Array;

  /** @param seed whole number from 0 to 2^53 - 1, or the four words of the state, not all 0. */
  constructor(seed: number | readonly [number, number, number, number]) {
    this.state = Int32Array.from(typeof seed === "number" ? splitMix(seed) : seed);
  }

  /** 32 random bits as a number from 0 to 2^32 - 1. */
  next(): number {
    const { state } = this;
    const s1 = state[1] ?? 0;
    const scaled = Math.imul(s1, 5);
    const result = Math.imul((scaled << 7) | (scaled >>> 25), 9);
    const s2 = (state[2] ?? 0) ^ (state[0] ?? 0);
    const s3 = (state[3] ?? 0) ^ s1;
    state[1] = s1 ^ s2;
    state[0] = (state[0] ?? 0) ^ s3;
    state[2] = s2 ^ (s1 << 9);
    state[3] = (s3 << 11) | (s3 >>> 21);
    return result >>> 0;
  }

  /** A whole number from 0 to `bound` - 1, each as likely (Lemire 2019, arXiv 1805.10941); `bound` at most 2^21. */
  below(bound: number): number {
    // The product has at most 53 bits, so it is exact.
    let product = this.next() * bound;
    let rest = product % word;
    if (rest < bound) {
      const unfair = word % bound;
      while (rest < unfair) {
        product = this.next() * bound;
        rest = product % word;
      }
    }
    return (product - rest) / word;
  }

  /** How many of `tosses` fair coins show heads. */
  heads(tosses: number): number {
    const { state } = this;
    let count = 0;
    let left = tosses;
    // As `next` does, with the state at hand: most of the bootstrap's time passes here.
    let [s0 = 0, s1 = 0, s2 = 0, s3 = 0] = [state[0], state[1], state[2], state[3]];
    for (; left > 0; left -= 32) {
      const scaled = Math.imul(s1, 5);
      const bits = Math.imul((scaled << 7) | (scaled >>> 25), 9);
      count += ones(left >= 32 ? bits : bits >>> (32 - left));
      const shifted = s1 << 9;
      s2 ^= s0;
      s3 ^= s1;
      s1 ^= s2;
      s0 ^= s3;
      s2 ^= shifted;
      s3 = (s3 << 11) | (s3 >>> 21);
    }
    state[0] = s0;
    state[1] = s1;
    state[2] = s2;
    state[3] = s3;
    return count;
  }

  /**
   * How many of `tries` succeed, each with the chance `share / whole` (whole numbers, `whole` at most 2^30): exactly
   * binomial. Every try has a uniform number of which one binary digit is looked at in a round; tries whose digit differs from
   * the chance's are decided by it, and about half go on.
   */
  binomial(tries: number, share: number, whole: number): number {
    let successes = 0;
    let open = tries;
    let rest = share;
    if (rest >= whole) return tries;
    while (open > 0 && rest > 0) {
      const ahead = this.heads(open);
      rest *= 2;
      if (rest >= whole) {
        rest -= whole;
        successes += ahead;
        open -= ahead;
      } else {
        open = ahead;
      }
    }
    return successes;
  }
}

const word = 2 ** 32;

/** Bits that are set (Warren, "Hacker's Delight", 5-1). */
function ones(bits: number): number {
  let sum = bits - ((bits >>> 1) & 0x55555555);
  sum = (sum & 0x33333333) + ((sum >>> 2) & 0x33333333);
  return Math.imul((sum + (sum >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Two outputs of SplitMix64 (Steele, Lea and Flood 2014), low words first. */
function splitMix(seed: number): number[] {
  if (!Number.isSafeInteger(seed) || seed < 0) throw new RangeError(`no seed: ${seed}`);
  const wide = (value: bigint): bigint => BigInt.asUintN(64, value);
  return [1n, 2n].flatMap((step) => {
    let z = wide(BigInt(seed) + step * 0x9e3779b97f4a7c15n);
    z = wide((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
    z = wide((z ^ (z >> 27n)) * 0x94d049bb133111ebn);
    z ^= z >> 31n;
    return [Number(BigInt.asIntN(32, z)), Number(BigInt.asIntN(32, z >> 32n))];
  });
}
