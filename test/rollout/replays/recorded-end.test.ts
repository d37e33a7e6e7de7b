import { writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import type { StateMark } from "../../../src/env/provenance.js";
import { readBundle } from "../../../src/replay/index.js";
import { holdsEnd } from "../../../src/rollout/replays/recorded-end.js";
import { bundles, recorded, recorder, say } from "../../replay/support/recording.js";
import { ScriptedEnvironment } from "../../support/scripted-environment.js";

/** Tells the digests that the test gives it. */
class Machine extends ScriptedEnvironment {
  digest = "";

  state(): Promise<StateMark> {
    return Promise.resolve({ step: 1, digest: this.digest.repeat(32), instructions: 1, guestMs: 1 });
  }

  async saveState(path: string): Promise<{ digest: string }> {
    await writeFile(path, this.digest);
    return { digest: this.digest.repeat(32) };
  }
}

it.each([
  ["is held where it is the one that the last step was answered with", "aa", true],
  ["is not held where the machine went on since", "bb", false],
])("the machine of an end %s", async (_, later, held) => {
  const into = recorder({ states: true });
  const machine = new Machine("scripted");
  const environment = recorded(machine, into);
  machine.digest = "aa";
  await environment.reset();
  await environment.step([say("a")]);
  machine.digest = later;
  await environment.close();
  const bundle = await readBundle(bundles(into.folder)[0] ?? "");
  expect(bundle.steps.at(-1)?.snapshot?.pages).not.toBeNull();
  expect(holdsEnd(bundle)).toBe(held);
});
