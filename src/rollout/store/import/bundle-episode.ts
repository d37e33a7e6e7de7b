/** What a bundle tells of its episode, as a row of the store. */
import { resolve } from "node:path";
import type { Bundle, BundleStep } from "../../../replay/index.js";
import type { Verdict } from "../../../verifiers/verdict.js";
import type { StoredEpisode } from "../types.js";

/** Without its place in a run. */
export type BundleEpisode = Omit<StoredEpisode, "replica" | "attempt"> & {
  /** As the client said; null where it did not. */
  replica: number | null;
  /** Host milliseconds since 1970. */
  began: number;
  model: string | null;
};

/** A verdict on an earlier state says nothing of the episode's end. */
export function bundleEpisode(bundle: Bundle): BundleEpisode {
  const { session, steps, end } = bundle;
  const answered = steps.filter(({ observation }) => observation !== null);
  const lastStep = answered.at(-1)?.step ?? bundle.start.step;
  const event = bundle.verdicts.findLast(({ step }) => step >= lastStep);
  const verdict = (event?.verdict ?? null) as Verdict | null;
  const decisions = answered.flatMap((step) => step.decisions.slice(-1));
  const replica = session.labels["replica"];
  return {
    episode: session.episode,
    task: session.task,
    taskVersion: session.task_version,
    verifierVersion: event?.verifier ?? session.verifier,
    image: session.image,
    golden: session.golden,
    variant: session.variant,
    params: session.params,
    replica: typeof replica === "number" && Number.isSafeInteger(replica) && replica >= 0 ? replica : null,
    began: session.t_wall,
    model: decisions.at(-1)?.model ?? labelOf(session.labels["model"]),
    seed: session.seed,
    file: resolve(bundle.file),
    sha256: end.sha256,
    provenance: "recorded",
    status: verdict?.status ?? "ungraded",
    score: verdict?.status === "graded" ? verdict.score : null,
    passed: verdict?.status === "graded" ? verdict.passed : null,
    reason:
      verdict === null
        ? (failureOf(bundle) ?? "nobody asked for a verdict on its end")
        : (verdict.reason ?? null),
    verdict,
    milestones: [...new Set(answered.flatMap(paidMilestones))],
    reward: answered.reduce((sum, step) => sum + rewardOf(step), 0),
    steps: answered.length,
    truncated: answered.at(-1)?.observation?.truncated ?? false,
    readyMs: numberOf(bundle.start.observation?.info["ready_ms"]),
    resetMs: null,
    stepMs: [],
    operatorMs: [],
    evaluateMs: event?.ms ?? null,
    tokensIn: tokens(decisions, ["prompt_tokens", "input_tokens"]),
    tokensOut: tokens(decisions, ["completion_tokens", "output_tokens"]),
    modelMs: null,
    guestMs: answered.at(-1)?.observation?.t_guest ?? null,
    harnessMs: null,
    judgeMs: null,
    dollars: null,
    account: null,
    labels: session.labels,
  };
}

/** What of ours failed at last. */
function failureOf({ start, steps }: Bundle): string | null {
  const failures = [start, ...steps].flatMap(({ others }) =>
    others.flatMap((event) => (event.channel === "infra" && "code" in event ? [event] : [])),
  );
  const last = failures.at(-1) as { code: string; message: string } | undefined;
  return last === undefined ? null : `${last.code}: ${last.message}`;
}

const paidMilestones = ({ rewards }: BundleStep): string[] =>
  rewards.flatMap(({ check }) => (check === null ? [] : [check]));

/** A step that pays nothing has no event for it. */
const rewardOf = ({ rewards }: BundleStep): number =>
  rewards.findLast(({ check }) => check === null)?.reward ?? 0;

const labelOf = (value: string | number | boolean | undefined): string | null =>
  value === undefined ? null : String(value);
const numberOf = (value: unknown): number | null => (typeof value === "number" ? value : null);

/** Null where no decision tells of any. */
function tokens(decisions: BundleStep["decisions"], names: readonly string[]): number | null {
  const told = decisions.flatMap(({ usage = {} }) => {
    const name = names.find((one) => typeof usage[one] === "number");
    return name === undefined ? [] : [usage[name] as number];
  });
  return told.length === 0 ? null : Math.round(told.reduce((sum, count) => sum + count, 0));
}
