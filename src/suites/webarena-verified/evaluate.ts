/** Grades one run of a WebArena-Verified task: the agent's response and its network trace. */
import type { Json } from "../../verifiers/assertions/json-value.js";
import type { Profile } from "../scorer.js";
import type { Assertion } from "./compare.js";
import type { NetworkEvent } from "./har.js";
import { UnreadableExpectation } from "./normalise.js";
import { evaluateEvents } from "./network.js";
import { evaluateResponse, readResponse } from "./response.js";
import { guessSites, type SiteName, Sites, type SiteUrls } from "./sites.js";
import { taskType, type WebArenaVerifiedTask } from "./task.js";
import { shownValue } from "./value.js";

export interface Run {
  /** What the agent answered, as it wrote it. */
  response: string;
  events: readonly NetworkEvent[];
}

export interface EvaluatorVerdict {
  evaluator: string;
  status: "success" | "failure" | "error";
  /** Null for an error: it says nothing about the agent. Published, it counts as 0. */
  score: number | null;
  assertions: Assertion[];
  /** What was compared, as the types made it. */
  expected: Json;
  actual: Json;
  error?: string;
}

export interface RunVerdict {
  taskId: number;
  revision: number;
  status: "success" | "failure" | "error";
  score: number | null;
  evaluators: EvaluatorVerdict[];
  /** Sites whose address nobody gave, and that was guessed from the trace. */
  guessedSites: SiteName[];
}

/** Every evaluator of the task must be content. */
export function evaluateRun(
  task: WebArenaVerifiedTask,
  run: Run,
  { sites = {}, profile = "faithful" }: { sites?: SiteUrls; profile?: Profile } = {},
): RunVerdict {
  const guessedSites = task.sites.filter((name) => sites[name] === undefined);
  const guesses = guessSites(
    task.sites,
    run.events.map(({ url }) => url),
  );
  // As published: where one address is missing, none of the given ones is used.
  const urls =
    guessedSites.length === 0 ? sites : profile === "faithful" ? guesses : { ...guesses, ...sites };
  const at = new Sites(task.sites, urls);
  const careful = profile === "strict";
  const readings = {
    expected: { sites: at, strict: true, careful },
    actual: { sites: at, strict: false, careful },
  };
  const response = readResponse(run.response);
  const evaluators = task.eval.map((one) =>
    verdictOf(one.evaluator, () =>
      one.evaluator === "AgentResponseEvaluator"
        ? evaluateResponse(one, response, readings)
        : evaluateEvents(one, run.events, taskType(task) === "NAVIGATE", readings),
    ),
  );
  const status = evaluators.some((one) => one.status === "error")
    ? "error"
    : evaluators.every((one) => one.status === "success")
      ? "success"
      : "failure";
  return {
    taskId: task.task_id,
    revision: task.revision,
    status,
    score: scores[status],
    evaluators,
    guessedSites,
  };
}

const scores = { success: 1, failure: 0, error: null } as const;

function verdictOf(evaluator: string, evaluate: () => ReturnType<typeof evaluateResponse>): EvaluatorVerdict {
  try {
    const { assertions, expected, actual } = evaluate();
    const status = assertions.length === 0 ? "success" : "failure";
    return {
      evaluator,
      status,
      score: scores[status],
      assertions,
      expected: shownValue(expected),
      actual: shownValue(actual),
    };
  } catch (error) {
    if (!(error instanceof UnreadableExpectation)) throw error;
    return {
      evaluator,
      status: "error",
      score: null,
      assertions: [],
      expected: null,
      actual: null,
      error: error.message,
    };
  }
}
