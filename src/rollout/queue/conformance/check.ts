import { isDeepStrictEqual } from "node:util";
import { ShinkenError } from "../../../errors/index.js";

/** Counts rules and keeps those that are broken. */
export class QueueCheck {
  readonly problems: string[] = [];
  rules = 0;

  holds(holds: boolean, problem: string): void {
    this.rules += 1;
    if (!holds) this.problems.push(problem);
  }

  equal(given: unknown, wanted: unknown, what: string): void {
    const [is, should] = [JSON.stringify(given), JSON.stringify(wanted)];
    this.holds(isDeepStrictEqual(given, wanted), `${what} is ${is} instead of ${should}`);
  }

  async refused(code: string, what: string, work: () => Promise<unknown>): Promise<void> {
    let given = "accepted";
    try {
      await work();
    } catch (error) {
      given = error instanceof ShinkenError ? error.code : String(error);
    }
    this.holds(given === code, `${what} is ${given}; it should be refused with ${code}`);
  }
}
