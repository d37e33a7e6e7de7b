import type { Sandbox } from "../../sandbox/sandbox.js";
import type { Action, Observation } from "../environment.js";
import type { ForkOrigin } from "../provenance.js";
import { ProgressWatch } from "./progress.js";
import type { Baseline, Start } from "./scenario.js";

/** What the agent said and how it ended, as checks may ask for it. */
export interface EpisodeRecord {
  end: "done" | "fail" | "none";
  answer: string | null;
  reason: string | null;
  steps: number;
  actions: Action[];
}

/** An episode as it stood after a step: all that a branch of its machine needs. */
export interface EpisodeMark {
  readonly record: Omit<EpisodeRecord, "actions">;
  /** Of the record's actions, which only grow, so many. */
  readonly actions: { readonly of: readonly Action[]; readonly count: number };
  readonly held: ReadonlySet<string>;
  readonly scores: ReadonlyMap<string, number>;
  readonly truncatedBy: Episode["truncatedBy"];
  readonly lastObservation: Observation;
  readonly watch: ProgressWatch;
  readonly wallMs: number;
  readonly guestMs: number;
  readonly instructions: number;
}

/** Characters of a text field that the record of an action keeps. */
const recordedChars = 4_096;

/** The record of an episode in which nothing has been done. */
export function emptyRecord(): EpisodeRecord {
  return { end: "none", answer: null, reason: null, steps: 0, actions: [] };
}

/** Notes an action that was carried out; long texts are cut, since a record is not a store. */
export function noteAction(record: EpisodeRecord, action: Action): void {
  const kept: Action = { type: action.type };
  for (const [key, value] of Object.entries(action)) {
    kept[key] = typeof value === "string" ? value.slice(0, recordedChars) : value;
  }
  record.actions.push(kept);
  if (action.type === "done") {
    record.end = "done";
    record.answer = (action["answer"] as string | undefined) ?? null;
  }
  if (action.type === "fail") {
    record.end = "fail";
    record.reason = action["reason"] as string;
  }
}

/** One episode on one machine: from reset to its end, and what a branch takes over. */
export class Episode {
  readonly start: Start;
  readonly machine: Sandbox;
  /** Run seed, or null if nobody seeded. */
  readonly seed: number | null;
  /** Path of forks from the run seed to this machine. */
  readonly path: string;
  readonly record: EpisodeRecord = emptyRecord();
  /** What its machine was forked with. */
  origin: ForkOrigin = { kind: "replica", seed: null, clock: null };
  /** Milestones that hold, whether they were paid for or held from the start. */
  readonly held = new Set<string>();
  /** Best scores of dense milestones so far, from the golden's on; the latest of those that can be lost. */
  readonly scores = new Map<string, number>();
  /** Set once the episode was cut by a limit. */
  truncatedBy: "steps" | "guest_seconds" | "instructions" | null = null;
  lastObservation: Observation;
  watch = new ProgressWatch();
  branches = 0;
  /** Host milliseconds that steps have taken. */
  wallMs = 0;
  /** By step, of those whose checkpoint the machine keeps. */
  readonly marks = new Map<number, EpisodeMark>();
  readonly #startMs: number;
  readonly #startInstructions: number;

  constructor(start: Start, machine: Sandbox, seed: number | null, path: string, from?: EpisodeMark) {
    this.start = start;
    this.machine = machine;
    this.seed = seed;
    this.path = path;
    this.lastObservation = { instruction: start.instruction, results: [] };
    const stats = machine.stats();
    this.#startMs = stats.guestMs;
    this.#startInstructions = stats.instructions;
    if (from === undefined) return;
    this.#startMs -= from.guestMs;
    this.#startInstructions -= from.instructions;
    const { of: actions, count } = from.actions;
    this.record = { ...from.record, actions: structuredClone(actions.slice(0, count)) };
    this.held = new Set(from.held);
    this.scores = new Map(from.scores);
    this.truncatedBy = from.truncatedBy;
    this.lastObservation = structuredClone(from.lastObservation);
    this.watch = from.watch.branch();
    this.wallMs = from.wallMs;
  }

  /** Takes over how the milestones stand in the golden: nothing of that is paid. */
  begin({ held, scores }: Baseline): void {
    for (const [id, score] of scores) this.scores.set(id, score);
    for (const id of held) {
      this.held.add(id);
      if (this.scores.has(id)) this.scores.set(id, 1);
    }
  }

  /** The present state, for a branch. */
  mark(): EpisodeMark {
    const { actions, ...record } = this.record;
    const { truncatedBy, lastObservation, wallMs, guestMs, instructions } = this;
    return {
      record,
      actions: { of: actions, count: actions.length },
      held: new Set(this.held),
      scores: new Map(this.scores),
      truncatedBy,
      lastObservation,
      watch: this.watch.branch(),
      wallMs,
      guestMs,
      instructions,
    };
  }

  get over(): boolean {
    return this.record.end !== "none" || this.truncatedBy !== null;
  }

  /** Guest milliseconds since reset. */
  get guestMs(): number {
    return this.machine.stats().guestMs - this.#startMs;
  }

  /** Instructions since reset. */
  get instructions(): number {
    return this.machine.stats().instructions - this.#startInstructions;
  }

  /** Guest milliseconds that are left to the agent. */
  get remainingMs(): number {
    return Math.max(0, this.start.limits.guestSeconds * 1_000 - this.guestMs);
  }

  /** The limit that has been reached, if any. */
  reachedLimit(): "steps" | "guest_seconds" | "instructions" | null {
    const { limits } = this.start;
    if (this.instructions >= limits.instructions) return "instructions";
    if (this.guestMs >= limits.guestSeconds * 1_000) return "guest_seconds";
    if (this.record.steps >= limits.steps) return "steps";
    return null;
  }

  /** Notes an action that was carried out. */
  note(action: Action): void {
    noteAction(this.record, action);
  }

  /** Takes a declared end back: the step that declared it was not answered, so the episode goes on. */
  unend(): void {
    if (this.record.end === "none") return;
    this.record.actions.pop();
    Object.assign(this.record, { end: "none", answer: null, reason: null });
  }
}
