/** What the engine's package sees in place of the host's clock, time zone and random numbers: the same at every run. */

/** A `Date` of 1970 in UTC. */
export class StillDate extends Date {
  constructor(...given: number[]) {
    const [year, month = 0, day = 1] = given;
    super(given.length > 1 ? Date.UTC(year as number, month, day) : (year ?? 0));
  }
  static override now(): number {
    return 0;
  }
  override getTimezoneOffset(): number {
    return 0;
  }
  override getFullYear(): number {
    return this.getUTCFullYear();
  }
  override getMonth(): number {
    return this.getUTCMonth();
  }
  override getDate(): number {
    return this.getUTCDate();
  }
  override getDay(): number {
    return this.getUTCDay();
  }
  override getHours(): number {
    return this.getUTCHours();
  }
  override getMinutes(): number {
    return this.getUTCMinutes();
  }
  override getSeconds(): number {
    return this.getUTCSeconds();
  }
}

export const stillPerformance = { now: () => 0 };

/** `node:crypto` with nothing but the source of random bytes, which are a fixed sequence; `asked` once some were taken. */
export interface StillCrypto {
  asked: boolean;
  randomFillSync(bytes: Uint8Array): Uint8Array;
}

export function stillCrypto(): StillCrypto {
  let state = 1;
  const crypto = {
    asked: false,
    randomFillSync(bytes: Uint8Array) {
      crypto.asked = true;
      for (const index of bytes.keys()) {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
        bytes[index] = state >>> 24;
      }
      return bytes;
    },
  };
  return crypto;
}

/** Timers that never come: nothing of an instance runs once its query has ended. */
export const stillTimers = { setTimeout: (): number => 0, clearTimeout: (): void => undefined };
