/** The machine in which a recorded episode ended, where its bundle holds it. */
import { randomUUID } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseActions } from "../../env/aci/index.js";
import { emptyRecord, type EpisodeRecord, noteAction } from "../../env/session/episode.js";
import type { Start } from "../../env/session/scenario.js";
import { ShinkenError } from "../../errors/index.js";
import type { Bundle } from "../../replay/index.js";
import type { Sandbox } from "../../sandbox/sandbox.js";

/** Whether the bundle holds the machine after its last step. */
export function holdsEnd({ start, steps, session }: Bundle): boolean {
  const { snapshot, others } = steps.at(-1) ?? start;
  // A branch's record begins with what its parent did.
  if (session.parent !== null || deltaOf(snapshot?.pages) === null) return false;
  // What the step was answered with is its end; a machine that went on since is another.
  return others.every(
    (event) => "foreign" in event || event.channel !== "snapshot" || event.digest === snapshot?.digest,
  );
}

/**
 * Opens it on the golden of `start`, and gives it with the episode's record; the machine is the caller's to close. Rejects with
 * `golden_invalid` where the bytes are damaged or stand on another golden, `not_repeatable` where the state is not the recorded one.
 */
export async function openEnd(
  { start: begun, steps }: Bundle,
  start: Start,
): Promise<{ machine: Sandbox; record: EpisodeRecord }> {
  const { snapshot } = steps.at(-1) ?? begun;
  const delta = deltaOf(snapshot?.pages);
  if (snapshot === null || delta === null) throw new TypeError("the bundle holds no machine");
  const lease = await start.golden();
  const path = join(tmpdir(), `shinken-state-${randomUUID()}`);
  try {
    if (lease.golden.openState === undefined)
      throw new ShinkenError("host_unsupported", "machines of this kind cannot be opened from a file");
    await writeFile(path, delta, { mode: 0o600 });
    const machine = await lease.golden.openState(path);
    const digest = await machine.digest();
    if (digest === snapshot.digest) return { machine, record: recordOf(steps, start) };
    await machine.close();
    throw new ShinkenError(
      "not_repeatable",
      `the machine in the bundle has digest ${digest}, not the recorded one`,
    );
  } finally {
    lease.release();
    await rm(path, { force: true });
  }
}

/** What the session would know: the actions that were carried out, and how the episode ended. */
function recordOf(steps: Bundle["steps"], start: Start): EpisodeRecord {
  const record = emptyRecord();
  for (const { step, actions, observation } of steps) {
    if (observation === null) continue;
    record.steps = step;
    const parsed = parseActions(
      actions.map(({ action }) => action),
      start.granted,
    );
    for (const { action } of parsed.slice(0, observation.observation.results.length))
      noteAction(record, action);
  }
  return record;
}

function deltaOf(pages: { delta?: unknown } | null | undefined): Uint8Array | null {
  return pages?.delta instanceof Uint8Array ? pages.delta : null;
}
