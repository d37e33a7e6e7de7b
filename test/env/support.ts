import { describe } from "vitest";
import { type ActionCapability, type ActionContext, parseActions } from "../../src/env/aci/index.js";
import type { ActionResult } from "../../src/env/environment.js";
import type { Sandbox } from "../../src/sandbox/sandbox.js";
import { hostSandboxAvailable } from "../support/host-sandbox/index.js";

export const everything: ReadonlySet<ActionCapability> = new Set(["exec", "files", "shell"]);

/** Tests that need a host sandbox; skipped, and saying so, where the host has no user namespaces. */
export const describeOnHost: typeof describe = hostSandboxAvailable()
  ? describe
  : (describe.skip.bind(describe) as typeof describe);

/** Runs one action the way a session does. */
export async function act(
  sandbox: Sandbox,
  action: unknown,
  change: Partial<ActionContext> = {},
): Promise<ActionResult> {
  const [parsed] = parseActions([action], everything);
  if (parsed === undefined) throw new Error("nothing was parsed");
  return parsed.definition.run(parsed.action, {
    sandbox,
    user: "agent",
    home: "/home/agent",
    cwd: "/home/agent",
    remainingMs: 3_600_000,
    ...change,
  });
}
