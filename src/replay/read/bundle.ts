/** A whole episode as a structure: what re-runs, exports and people work on. */
import { ShinkenError } from "../../errors/index.js";
import { payloads, type SessionFacts } from "../format/channels.js";
import { readLimits } from "../format/version.js";
import { type BundleEvent, events, type ForeignEvent, type ReadEnd, type ReadOptions } from "./reader.js";

export interface BundleStep {
  /** 1 for the first after the reset. */
  step: number;
  actions: BundleEvent<"action">[];
  /** Null: the step was asked for and not answered. */
  observation: BundleEvent<"observation"> | null;
  rewards: BundleEvent<"reward">[];
  decisions: BundleEvent<"decision">[];
  snapshot: BundleEvent<"snapshot"> | null;
  /** What else happened: markers, infrastructure, permissions, channels that are not known here, and what was taken back. */
  others: (BundleEvent | ForeignEvent)[];
}

export interface Bundle {
  file: string;
  session: SessionFacts & BundleEvent<"session">;
  /** Where the steps begin: what the reset gave, or the state that a branch began with; and whatever came before the first step. */
  start: BundleStep;
  steps: BundleStep[];
  verdicts: BundleEvent<"verdict">[];
  end: ReadEnd;
}

/** Reads a whole bundle. Rejects as `readEvents`, with `bad_bundle` too where it has no session, and `too_large` beyond 2 GiB. */
export async function readBundle(file: string, options: ReadOptions = {}): Promise<Bundle> {
  const reading = events(file, options, readLimits.bundleBytes);
  let session: BundleEvent<"session"> | null = null;
  let steps = new Steps(0);
  const before: ForeignEvent[] = [];
  const verdicts: BundleEvent<"verdict">[] = [];
  for (;;) {
    const { done, value } = await reading.next();
    if (done === true) {
      if (session === null)
        throw new ShinkenError("bad_bundle", `${file} ends before its session is told`, { path: file });
      return { file, session, start: steps.start, steps: steps.ordered(), verdicts, end: value };
    }
    if (isForeign(value)) {
      if (session === null) before.push(value);
      else steps.place(value);
    } else if (value.channel === "session") {
      session = value;
      steps = new Steps(value.parent?.step ?? 0);
      steps.start.others.push(...before);
    } else if (value.channel === "verdict") verdicts.push(value);
    else steps.place(value);
  }
}

/** Steps by number. What belongs to the first state or to one before it is the start. */
class Steps {
  readonly start: BundleStep;
  readonly #steps = new Map<number, BundleStep>();
  /** The latest that anything was told of: events of unknown channels belong there. */
  #latest: BundleStep;

  constructor(first: number) {
    this.start = emptyStep(first);
    this.#latest = this.start;
  }

  ordered(): BundleStep[] {
    return [...this.#steps.values()].sort((a, b) => a.step - b.step);
  }

  place(event: BundleEvent | ForeignEvent): void {
    if (isForeign(event)) this.#latest.others.push(event);
    else put(this.#of(event.step), event);
  }

  #of(number: number): BundleStep {
    const step = number <= this.start.step ? this.start : (this.#steps.get(number) ?? emptyStep(number));
    if (step !== this.start) this.#steps.set(number, step);
    if (step.step >= this.#latest.step) this.#latest = step;
    return step;
  }
}

function put(step: BundleStep, event: BundleEvent): void {
  switch (event.channel) {
    case "action":
      step.actions.push(event);
      break;
    case "reward":
      step.rewards.push(event);
      break;
    case "decision":
      step.decisions.push(event);
      break;
    case "observation":
      if (step.observation !== null) step.others.push(step.observation);
      step.observation = event;
      break;
    case "snapshot":
      if (step.snapshot !== null) step.others.push(step.snapshot);
      step.snapshot = event;
      break;
    default:
      step.others.push(event);
      // What was asked for before it was not done, or not to its end; whatever follows is asked anew.
      if (event.channel === "marker" && unanswered.has(event.kind))
        step.others.push(...step.decisions.splice(0), ...step.actions.splice(0));
  }
}

/** Markers of a step that got no observation. After `cancelled` and `failed` the machine may have changed all the same. */
const unanswered = new Set(["refused", "cancelled", "failed"]);

function emptyStep(step: number): BundleStep {
  return { step, actions: [], observation: null, rewards: [], decisions: [], snapshot: null, others: [] };
}

/** An event of ours may have a field that its channel's schema does not know, whatever its name. */
function isForeign(event: BundleEvent | ForeignEvent): event is ForeignEvent {
  return !Object.hasOwn(payloads, event.channel);
}
