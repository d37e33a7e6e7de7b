import { ShinkenError } from "../../errors/index.js";
import type { Sandbox } from "../../sandbox/sandbox.js";
import type { TaskVariant } from "../task/index.js";
import { runSteps } from "./steps.js";
import { withinWall } from "./wall.js";

/**
 * Brings a machine of the bare image into the state in which a variant's episodes begin. Rejects with `setup_failed`
 * (a step, a probe, the phase's guest budget), `machine_timeout` or what the machine died of.
 */
export async function prepareMachine(sandbox: Sandbox, variant: TaskVariant, place = ""): Promise<void> {
  const { setup, ready, limits } = variant.task;
  const before = sandbox.stats();
  const run = async () => {
    await runSteps(sandbox, setup, { readAsset: (path) => variant.readAsset(path), at: `${place}setup` });
    await runSteps(
      sandbox,
      ready.map((probe) => ({ wait_ready: probe })),
      {
        readAsset: (path) => variant.readAsset(path),
        at: `${place}ready`,
      },
    );
  };
  await withinWall(limits.setup.wall_seconds, "setup", run, () => void sandbox.close());
  const after = sandbox.stats();
  const seconds = (after.guestMs - before.guestMs) / 1_000;
  if (seconds > limits.setup.guest_seconds) {
    throw new ShinkenError(
      "setup_failed",
      `setup took ${seconds} s of machine time, more than ${limits.setup.guest_seconds}`,
    );
  }
  const instructions = after.instructions - before.instructions;
  if (limits.setup.instructions !== undefined && instructions > limits.setup.instructions) {
    throw new ShinkenError(
      "setup_failed",
      `setup took ${instructions} instructions, more than ${limits.setup.instructions}`,
    );
  }
}
