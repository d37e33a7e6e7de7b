/** In what two machines differ whose digests do, where the bundle holds the recorded one. */
import type { Session } from "../../env/session/session.js";
import { ShinkenError } from "../../errors/index.js";
import type { Bundle } from "../../replay/index.js";
import type { StateDifference } from "../../sandbox/sandbox.js";
import { holdsEnd, openEnd } from "./recorded-end.js";

/** Registers that a message names. */
const namedRegisters = 6;

/**
 * Registers, devices and pages of the session's machine that are not as in the bundle's, after `step`; as the end of a sentence. Empty
 * where the bundle holds no machine of that step, or one that stands on another golden.
 */
export async function machineNote(bundle: Bundle, step: number, session: Session): Promise<string> {
  if (!holdsEnd(bundle) || (bundle.steps.at(-1)?.step ?? 0) !== step) return "";
  const { start, machine } = session.episode();
  try {
    const { machine: kept } = await openEnd(bundle, start);
    try {
      const difference = await kept.difference?.(machine);
      return difference === undefined ? "" : `; ${sentence(difference)}`;
    } finally {
      await kept.close();
    }
  } catch (error) {
    if (error instanceof ShinkenError && unopened.has(error.code)) return "";
    throw error;
  }
}

const unopened: ReadonlySet<string> = new Set(["golden_invalid", "host_unsupported", "not_repeatable"]);

function sentence({ registers, devices, pages, firstPages }: StateDifference): string {
  const named = registers.slice(0, namedRegisters).map(({ name, one, other }) => {
    return `${name} (0x${one.toString(16)} recorded, 0x${other.toString(16)} now)`;
  });
  const more = registers.length - named.length;
  const [first] = firstPages;
  return [
    `registers: ${named.join(", ") || "equal"}${more > 0 ? ` and ${more} more` : ""}`,
    `devices: ${devices.join(", ") || "equal"}`,
    `pages of memory: ${pages}${first === undefined ? "" : `, the first is ${first}`}`,
  ].join("; ");
}
