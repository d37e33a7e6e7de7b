/** An episode to look at. This shape is what `replay show --json` prints and pages read: `docs/replay.md` tells it. */
import { ShinkenError } from "../../errors/index.js";
import type { Verdict } from "../../verifiers/verdict.js";
import { channelNames } from "../format/channels.js";
import { BlobRef } from "../format/values.js";
import { type Bundle, type BundleStep, readBundle } from "../read/bundle.js";
import type { BundleEvent, ForeignEvent } from "../read/reader.js";
import { type FileChange, fileChanges } from "./changes.js";

export interface ShownEpisode {
  /** Version of this shape: fields are added to it, none is renamed or removed. */
  shape: 1;
  file: string;
  bytes: number;
  sha256: string;
  /** False: the recording has not ended, or was cut off. */
  finished: boolean;
  /** Version of the events in the file, and the program that wrote it. */
  version: number;
  library: string;
  /** As recorded; fields that are not known here as well. */
  session: Record<string, unknown>;
  /** What the reset gave; of a branch, the state that it began with. */
  start: ShownStep;
  steps: ShownStep[];
  verdicts: ShownVerdict[];
  totals: { steps: number; reward: number; guest_ms: number | null; wall_ms: number; redacted: number };
  /** Channels that this program does not know, with how many events each has. They stand among the events of their steps. */
  unknown: { channel: string; events: number }[];
}

export interface ShownStep {
  step: number;
  /** False: no observation came; what was asked for may not have been done. */
  answered: boolean;
  /** Guest milliseconds since the reset. */
  guest_ms: number | null;
  actions: { id: string; action: Record<string, unknown> }[];
  observation: Record<string, unknown> | null;
  terminated: boolean;
  truncated: boolean;
  info: Record<string, unknown>;
  reward: number;
  /** What all steps up to here have paid; a branch's from where it began. */
  return: number;
  milestones: { check: string; reward: number; partial: boolean }[];
  decisions: Record<string, unknown>[];
  state: { digest: string; instructions: number } | null;
  changes: FileChange[];
  /** Markers, infrastructure, permissions, actions that were taken back, and unknown channels. */
  events: ShownEvent[];
}

export interface ShownEvent {
  channel: string;
  seq: number;
  wall: number;
  /** Not among the channels that this program knows. */
  foreign: boolean;
  payload: unknown;
}

export interface ShownVerdict {
  step: number;
  ms: number;
  verifier: string;
  /** With names as on the wire. */
  verdict: Record<string, unknown>;
}

/**
 * Reads a bundle to look at it. Content that does not lie beside it stays a reference (`{blob, bytes, kind}`). Rejects as `readBundle`.
 */
export async function showEpisode(file: string): Promise<ShownEpisode> {
  const bundle = await readLeniently(file);
  const { session, start, steps, verdicts, end } = bundle;
  const changes = fileChanges(bundle);
  let sum = 0;
  const shown = steps.map((step) => {
    sum += rewardOf(step);
    return shownStep(step, sum, changes.get(step.step) ?? []);
  });
  const first = shownStep(start, 0, []);
  const all = [start, ...steps].flatMap(eventsOf);
  const walls = [session, ...all, ...verdicts].map(({ t_wall }) => t_wall);
  return {
    shape: 1,
    file,
    bytes: end.bytes,
    sha256: end.sha256,
    finished: end.finished,
    version: end.version,
    library: end.library,
    session: payloadOf(session),
    start: first,
    steps: shown,
    verdicts: verdicts.map(shownVerdict),
    totals: {
      steps: shown.filter(({ answered }) => answered).length,
      reward: sum,
      guest_ms: shown.findLast(({ guest_ms }) => guest_ms !== null)?.guest_ms ?? first.guest_ms,
      wall_ms: walls.reduce((most, wall) => Math.max(most, wall), session.t_wall) - session.t_wall,
      redacted: [session, ...all, ...verdicts].reduce((count, event) => count + redactedIn(event), 0),
    },
    unknown: unknownOf(all),
  };
}

async function readLeniently(file: string): Promise<Bundle> {
  try {
    return await readBundle(file);
  } catch (error) {
    if (!(error instanceof ShinkenError) || error.code !== "blob_missing") throw error;
    try {
      return await readBundle(file, { blobs: false });
    } catch {
      throw error;
    }
  }
}

function shownStep(step: BundleStep, sum: number, changes: FileChange[]): ShownStep {
  const { observation, snapshot } = step;
  return {
    step: step.step,
    answered: observation !== null,
    guest_ms: snapshot?.guest_ms ?? observation?.t_guest ?? null,
    actions: step.actions.map(({ action, action_id: id }, index) => ({
      id: id ?? `${step.step}.${index}`,
      action: plain(action) as Record<string, unknown>,
    })),
    observation: observation === null ? null : (plain(observation.observation) as Record<string, unknown>),
    terminated: observation?.terminated ?? false,
    truncated: observation?.truncated ?? false,
    info: plain(observation?.info ?? {}) as Record<string, unknown>,
    reward: rewardOf(step),
    return: sum,
    milestones: step.rewards.flatMap(({ check, reward, partial }) =>
      check === null ? [] : [{ check, reward, partial: partial === true }],
    ),
    decisions: step.decisions.map(payloadOf),
    state: snapshot === null ? null : { digest: snapshot.digest, instructions: snapshot.instructions },
    changes,
    events: step.others.map(shownEvent),
  };
}

const rewardOf = ({ rewards }: BundleStep): number =>
  rewards.findLast(({ check }) => check === null)?.reward ?? 0;

function shownEvent(event: BundleEvent | ForeignEvent): ShownEvent {
  const { channel, seq, t_wall: wall } = event;
  if (isForeign(event)) return { channel, seq, wall, foreign: true, payload: plain(event.payload) };
  return { channel, seq, wall, foreign: false, payload: payloadOf(event) };
}

function shownVerdict({ step, ms, verifier, verdict }: BundleEvent<"verdict">): ShownVerdict {
  const { taskVersion, verifierVersion, judgedOnly, ...rest } = verdict as unknown as Verdict;
  return {
    step,
    ms,
    verifier,
    verdict: {
      ...rest,
      task_version: taskVersion,
      verifier_version: verifierVersion,
      ...(judgedOnly === true ? { judged_only: true } : {}),
    },
  };
}

/** An event without its envelope. */
function payloadOf(event: BundleEvent): Record<string, unknown> {
  const {
    seq: _seq,
    step: _step,
    t_guest: _guest,
    t_wall: _wall,
    action_id: _id,
    channel: _channel,
    ...payload
  } = event;
  return plain(payload) as Record<string, unknown>;
}

/** With references to content as plain maps. */
function plain(value: unknown): unknown {
  if (value instanceof BlobRef) return { blob: value.sha256, bytes: value.bytes, kind: value.kind };
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return value.map(plain);
  return Object.fromEntries(Object.entries(value).map(([key, held]) => [key, plain(held)]));
}

function eventsOf(step: BundleStep): (BundleEvent | ForeignEvent)[] {
  const { actions, rewards, decisions, others, observation, snapshot } = step;
  return [...actions, ...rewards, ...decisions, ...others, observation, snapshot].filter(
    (one) => one !== null,
  );
}

function redactedIn(event: BundleEvent | ForeignEvent): number {
  return isForeign(event) ? 0 : (event.redacted?.length ?? 0);
}

function unknownOf(events: readonly (BundleEvent | ForeignEvent)[]): ShownEpisode["unknown"] {
  const counts = new Map<string, number>();
  for (const { channel } of events.filter(isForeign)) counts.set(channel, (counts.get(channel) ?? 0) + 1);
  return [...counts].map(([channel, count]) => ({ channel, events: count }));
}

/** By the name of the channel: an event of ours may have fields of any name. */
function isForeign(event: BundleEvent | ForeignEvent): event is ForeignEvent {
  return !(channelNames as string[]).includes(event.channel);
}
