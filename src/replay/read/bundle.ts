/** A whole episode as a structure: what re-runs, exports and people work on. */
import { ShinkenError } from "../../errors/index.js";
import type { SessionFacts } from "../format/channels.js";
import { type BundleEvent, type ForeignEvent, type ReadEnd, type ReadOptions, readEvents } from "./reader.js";

export interface BundleStep {
  /** 1 for the first after the reset. */
  step: number;
  actions: BundleEvent<"action">[];
  /** Null: the step was asked for and not answered. */
  observation: BundleEvent<"observation"> | null;
  rewards: BundleEvent<"reward">[];
  decisions: BundleEvent<"decision">[];
  snapshot: BundleEvent<"snapshot"> | null;
  /** What else happened: markers, infrastructure, permissions, and channels that are not known here. */
  others: (BundleEvent | ForeignEvent)[];
}

export interface Bundle {
  file: string;
  session: SessionFacts & BundleEvent<"session">;
  /** What the reset gave: its observation, snapshot, and whatever else came before the first step. */
  start: BundleStep;
  steps: BundleStep[];
  verdicts: BundleEvent<"verdict">[];
  end: ReadEnd;
}

/** Reads a whole bundle. Rejects as `readEvents`, and with `bad_bundle` where it does not begin with its session. */
export async function readBundle(file: string, options: ReadOptions = {}): Promise<Bundle> {
  const events = readEvents(file, options);
  let session: BundleEvent<"session"> | null = null;
  const start = emptyStep(0);
  const steps = new Map<number, BundleStep>([[0, start]]);
  const verdicts: BundleEvent<"verdict">[] = [];
  for (;;) {
    const { done, value } = await events.next();
    if (done === true) {
      if (session === null)
        throw new ShinkenError("bad_bundle", `${file} ends before its session is told`, { path: file });
      const ordered = [...steps.values()].filter(({ step }) => step > 0).sort((a, b) => a.step - b.step);
      return { file, session, start, steps: ordered, verdicts, end: value };
    }
    if (!("foreign" in value) && value.channel === "session") session ??= value;
    else if (!("foreign" in value) && value.channel === "verdict") verdicts.push(value);
    else place(steps, value);
  }
}

function place(steps: Map<number, BundleStep>, event: BundleEvent | ForeignEvent): void {
  const number = "foreign" in event ? Math.max(...steps.keys()) : event.step;
  const step = steps.get(number) ?? emptyStep(number);
  steps.set(number, step);
  if ("foreign" in event) step.others.push(event);
  else if (event.channel === "action") step.actions.push(event);
  else if (event.channel === "observation") step.observation = event;
  else if (event.channel === "reward") step.rewards.push(event);
  else if (event.channel === "decision") step.decisions.push(event);
  else if (event.channel === "snapshot") step.snapshot = event;
  else {
    step.others.push(event);
    // What was asked for before it was not done, or not to its end; whatever follows is asked anew.
    if (event.channel === "marker" && unanswered.has(event.kind)) {
      step.others.push(...step.decisions.splice(0), ...step.actions.splice(0));
    }
  }
}

/** Markers of a step that got no observation. After `cancelled` and `failed` the machine may have changed all the same. */
const unanswered = new Set(["refused", "cancelled", "failed"]);

function emptyStep(step: number): BundleStep {
  return { step, actions: [], observation: null, rewards: [], decisions: [], snapshot: null, others: [] };
}
