/** Tasks, traces and runs of WebArena-Verified, made by hand. */
import {
  evaluateRun,
  parseHar,
  parseTasks,
  type RunVerdict,
  type WebArenaVerifiedTask,
} from "../../../src/suites/index.js";

export const sites = {
  gitlab: ["http://localhost:8023"],
  map: ["http://localhost:3000"],
  reddit: ["http://localhost:9999"],
  shopping_admin: ["http://localhost:7780/admin"],
  shopping: ["http://localhost:7770"],
  wikipedia: ["http://localhost:8888"],
  homepage: ["http://localhost:4399"],
} as const;

export const task = (evaluators: unknown[], more: object = {}): unknown => ({
  sites: ["gitlab"],
  task_id: 1,
  intent_template_id: 1,
  start_urls: ["__GITLAB__"],
  intent: "do it",
  intent_template: "do it",
  instantiation_dict: {},
  revision: 1,
  eval: evaluators,
  ...more,
});
export const answer = (expected: object, more: object = {}): unknown => ({
  evaluator: "AgentResponseEvaluator",
  results_schema: { type: "null" },
  expected: { task_type: "mutate", status: "SUCCESS", retrieved_data: null, ...expected },
  ...more,
});
export const network = (expected: object, more: object = {}): unknown => ({
  evaluator: "NetworkEventEvaluator",
  expected: { url: "__GITLAB__/notes", http_method: "POST", response_status: 200, ...expected },
  ...more,
});

export interface Sent {
  url?: string;
  method?: string;
  status?: number;
  headers?: Record<string, string>;
  form?: string;
  json?: unknown;
  received?: unknown;
  cookies?: Record<string, string>;
}

export const pairs = (given: Record<string, string> = {}): object[] =>
  Object.entries(given).map(([name, value]) => ({ name, value }));

export const entry = ({
  url = "http://localhost:8023/notes",
  method = "POST",
  status = 200,
  ...sent
}: Sent): object => ({
  request: {
    url,
    method,
    headers: pairs(sent.headers),
    ...(sent.form === undefined
      ? {}
      : { postData: { mimeType: "application/x-www-form-urlencoded", text: sent.form } }),
    ...(sent.json === undefined
      ? {}
      : { postData: { mimeType: "application/json", text: JSON.stringify(sent.json) } }),
  },
  response: {
    status,
    headers: [],
    cookies: pairs(sent.cookies),
    ...(sent.received === undefined
      ? {}
      : { content: { mimeType: "application/json", text: JSON.stringify(sent.received) } }),
  },
});

export function play(
  evaluators: unknown[],
  response: unknown,
  sent: Sent[] = [],
  profile: "faithful" | "strict" = "faithful",
): RunVerdict {
  const [one] = parseTasks([task(evaluators)]).values();
  return evaluateRun(
    one as WebArenaVerifiedTask,
    {
      response: typeof response === "string" ? response : JSON.stringify(response),
      events: sent.length === 0 ? [] : parseHar({ log: { entries: sent.map(entry) } }),
    },
    { sites, profile },
  );
}

export const done = { task_type: "MUTATE", status: "SUCCESS", retrieved_data: null };
export const names = ({ evaluators }: RunVerdict): string[] =>
  evaluators.flatMap(({ assertions }) => assertions.map(({ name }) => name));
