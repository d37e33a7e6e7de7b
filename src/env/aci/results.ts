import { ShinkenError } from "../../errors/index.js";
import type { ActionResult } from "../environment.js";
import type { ActionErrorCode } from "./types.js";

/** The result of an action that could not be carried out for a reason that the agent can understand. */
export function refusal(type: string, code: ActionErrorCode, message: string): ActionResult {
  return { type, text: `Error: ${message}`, truncated: false, error: { code, message } };
}

/** Runs `work`; what the guest refused (no such file, not permitted) becomes a result, all else is thrown on. */
export async function orGuestError(type: string, work: () => Promise<ActionResult>): Promise<ActionResult> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ShinkenError && error.code === "guest_error") {
      return refusal(type, "guest_error", error.message);
    }
    throw error;
  }
}
