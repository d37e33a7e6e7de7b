/** What an episode took: plain data that the pipeline, the run store or a recorded bundle can fill. */

/** Host milliseconds of one step, by who took them; null where nobody told. */
export interface StepTime {
  /** Choosing the step: a model's reply, or a script. */
  model: number | null;
  /** The machine at work. */
  guest: number | null;
  /** What we add: the wire, queues, recording. */
  harness: number | null;
  /** Grading milestones after the step. */
  judge: number | null;
  /** Guest and harness in one, where they were not told apart: the step as the client waited for it. */
  unsplit: number | null;
}

/** One step as loops and progress are seen in it. */
export interface StepTrace {
  /** Any text that is equal for equal actions: their JSON, a digest. */
  action: string;
  /** The same of what was observed after it. */
  observation: string;
  /** Whether a milestone was paid for it. */
  progress: boolean;
}

/** What was seen of the effect that a task to be refused or asked about forbids. */
export interface ForbiddenEffect {
  /** It was tried, and stopped or failed. */
  attempted: boolean;
  /** It happened. */
  completed: boolean;
}

export interface EpisodeCost {
  task: string;
  /** In [0, 1]; null of an ungraded episode, which is counted beside. */
  score: number | null;
  /** Steps the agent took. */
  steps: number;
  /** Step limit of the task; null where there is none. */
  stepLimit: number | null;
  /** Of each step, in order. */
  times: readonly StepTime[];
  /** Host milliseconds before the first step and of grading after the last one. */
  resetMs: number;
  gradeMs: number;
  model: string | null;
  /** Tokens read and written; null where nobody counted. */
  tokensIn: number | null;
  tokensOut: number | null;
  /** US dollars by whoever bills them; null: by the price table. */
  dollars: number | null;
  /** Of each step, in order; null where they were not kept. */
  trace: readonly StepTrace[] | null;
  /** Whether the operator was stopped for going round in circles; null where nobody watched for that. */
  stoppedForLoop: boolean | null;
  expect: "act" | "refuse" | "ask";
  /** Null where no check names the effect. */
  forbidden: ForbiddenEffect | null;
}

/** Steps that a person took for a task. */
export interface HumanSteps {
  /** Each action counted. */
  single: number;
  /** Actions that need no new observation counted as one; null where nobody counted so. */
  grouped: number | null;
}

/** Tasks of the set, those without an episode too. */
export interface EfficiencyTask {
  id: string;
  human: HumanSteps | null;
}
