/** A recorded episode as lines for a terminal. Whatever came from a guest or a model goes through `printable`. */
import {
  printable,
  printableJson,
  printableLines,
  type ShownEpisode,
  type ShownEvent,
  type ShownStep,
  type ShownVerdict,
} from "../replay/show/index.js";
import { renderTable } from "../rollout/table.js";
import {
  type Bounds,
  cutLines,
  indented,
  number,
  type Paint,
  painter,
  seconds,
  shorten,
  signed,
  whole,
} from "./replay-lines.js";

export interface TextOptions {
  colour: boolean;
  /** Only this step, and nothing of it is cut. */
  step?: number | undefined;
}

const overview: Bounds = { lines: 12, columns: 160 };
const diffOverview: Bounds = { lines: 40, columns: 160 };
/** Characters of an action's field on its line. */
const fieldChars = 72;
/** Fields of actions that a diff shows. */
const diffed = new Set(["content", "old_text", "new_text"]);

/** The episode, or one step of it, with a line end at its end. */
export function renderEpisode(episode: ShownEpisode, options: TextOptions): string {
  const paint = painter(options.colour);
  const { start } = episode;
  const all = [start, ...episode.steps];
  const render = (step: ShownStep, bounds: Bounds): string[] =>
    renderStep(step === start ? `Start (step ${step.step})` : `Step ${step.step}`, step, bounds, paint);
  const { step: wanted } = options;
  const lines =
    wanted === undefined
      ? [
          ...header(episode, paint),
          ...all.flatMap((step) => ["", ...render(step, overview)]),
          ...episode.verdicts.flatMap((one) => ["", ...verdict(one, paint)]),
        ]
      : all.filter(({ step }) => step === wanted).flatMap((step) => render(step, whole));
  return `${lines.join("\n")}\n`;
}

function header(episode: ShownEpisode, paint: Paint): string[] {
  const { session, totals } = episode;
  const labels = Object.entries((session["labels"] ?? {}) as Record<string, string | number | boolean>);
  const parent = session["parent"] as { episode: string; step: number } | null | undefined;
  const machine = ["image", "provider", "memory", "machine_abi"].flatMap((key) => {
    const value = session[key] as string | number | null | undefined;
    return value === null || value === undefined ? [] : [`${key.replace("_", " ")} ${String(value)}`];
  });
  const rows: [string, unknown][] = [
    ["episode", session["episode"]],
    ["seed", session["seed"]],
    ["params", isEmpty(session["params"]) ? null : printableJson(session["params"])],
    ["golden", session["golden"]],
    ["verifier", session["verifier"]],
    ["task set", session["task_set"]],
    ["machine", machine.length === 0 ? null : machine.join(", ")],
    [
      "labels",
      labels.length === 0 ? null : labels.map(([key, value]) => `${key}=${String(value)}`).join("  "),
    ],
    ["use", session["use"]],
    ["parent", parent ? `${parent.episode}, from step ${parent.step}` : null],
    ["runtime", `${String(session["runtime"])}, events of version ${episode.version}`],
    ["file", `${episode.file}, ${episode.bytes} bytes, sha256 ${episode.sha256.slice(0, 16)}`],
    ["totals", totalsOf(totals)],
    ["unknown", episode.unknown.map(({ channel, events }) => `${channel} (${events} events)`).join(", ")],
  ];
  const title = `${String(session["task"])} ${String(session["task_version"])}`;
  return [
    paint("bold", printable(title)),
    ...(episode.finished
      ? []
      : [paint("yellow", "not finished: still recorded, or cut off; `shinken replay recover` ends it")]),
    "",
    ...rows
      .filter(([, value]) => value !== null && value !== undefined && value !== "")
      .map(([name, value]) => `${paint("dim", name.padEnd(9))} ${printable(String(value))}`),
  ];
}

function totalsOf({ steps, reward, guest_ms, wall_ms, redacted }: ShownEpisode["totals"]): string {
  return [
    `${steps} step${steps === 1 ? "" : "s"}`,
    `reward ${number(reward)}`,
    ...(guest_ms === null ? [] : [`guest ${seconds(guest_ms)}`]),
    `wall ${seconds(wall_ms)}`,
    ...(redacted === 0 ? [] : [`${redacted} secret values left out`]),
  ].join(", ");
}

function renderStep(title: string, step: ShownStep, bounds: Bounds, paint: Paint): string[] {
  const results = ((step.observation?.["results"] ?? []) as unknown[]).map(
    (one) => one as Record<string, unknown>,
  );
  const lines = [stepTitle(title, step, paint)];
  const instruction = step.observation?.["instruction"];
  if (typeof instruction === "string") lines.push(...indented(instruction, bounds));
  for (const decision of step.decisions) lines.push(paint("dim", `  model ${decisionLine(decision)}`));
  for (const [index, { id, action }] of step.actions.entries()) {
    const changes = step.changes.filter((one) => one.action === id);
    // What a diff shows need not be told twice.
    const told = changes.some(({ patch }) => patch !== null) ? omit(action, diffed) : action;
    lines.push(paint("cyan", `  > ${actionLine(told, bounds)}`));
    for (const change of changes) {
      const { patch, path, kind } = change;
      if (patch === null)
        lines.push(paint("dim", `    ${printable(path)}: ${kind}, no text or too much to show`));
      else lines.push(...diffLines(patch, bounds === whole ? whole : diffOverview, paint));
    }
    const result = results[index];
    if (result !== undefined) lines.push(...resultLines(result, bounds, paint));
  }
  for (const { check, reward, partial } of step.milestones)
    lines.push(paint("green", `  * ${printable(check)} ${signed(reward)}${partial ? " (partly)" : ""}`));
  lines.push(...step.events.map((event) => eventLine(event, bounds, paint)));
  return lines;
}

function stepTitle(title: string, step: ShownStep, paint: Paint): string {
  const facts = [
    ...(step.guest_ms === null ? [] : [`guest ${seconds(step.guest_ms)}`]),
    `reward ${number(step.reward)}`,
    `return ${number(step.return)}`,
    ...(step.state === null ? [] : [`state ${printable(step.state.digest).slice(0, 12)}`]),
    ...(step.terminated ? ["terminated"] : []),
    ...(step.truncated ? ["truncated"] : []),
    ...(step.answered ? [] : ["no observation"]),
  ];
  return `${paint("bold", title)}  ${paint("dim", facts.join("  "))}`;
}

function decisionLine(decision: Record<string, unknown>): string {
  const { model, usage, token_ids: ids, output } = decision;
  return [
    ...(typeof model === "string" ? [printable(model)] : []),
    ...(Array.isArray(ids) ? [`${ids.length} tokens`] : []),
    ...(isEmpty(usage) ? [] : [shorten(printableJson(usage), fieldChars)]),
    ...(output === undefined
      ? []
      : [shorten(typeof output === "string" ? printable(output) : printableJson(output), fieldChars)]),
  ].join("  ");
}

/** The kind and its fields on one line, each cut. */
function actionLine({ type, ...fields }: Record<string, unknown>, bounds: Bounds): string {
  const limit = bounds === whole ? Number.POSITIVE_INFINITY : fieldChars;
  const words = Object.entries(fields).map(([name, value]) => {
    const text = typeof value === "string" ? printable(value) : printableJson(value);
    return name === "path" || name === "command"
      ? shorten(text, limit)
      : `${printable(name)}=${shorten(text, limit)}`;
  });
  return [printable(String(type)), ...words].join(" ");
}

function resultLines(result: Record<string, unknown>, bounds: Bounds, paint: Paint): string[] {
  const { text, error } = result;
  const lines =
    typeof text === "string"
      ? indented(text, bounds)
      : [`    ${shorten(printableJson(result), bounds.columns)}`];
  return error === undefined ? lines : lines.map((line) => paint("red", line));
}

function eventLine({ channel, payload, foreign }: ShownEvent, bounds: Bounds, paint: Paint): string {
  const limit = bounds.columns;
  if (foreign) return paint("yellow", `  ? ${printable(channel)} ${shorten(printableJson(payload), limit)}`);
  const told = payload as Record<string, unknown>;
  const message =
    typeof told["message"] === "string" ? `: ${shorten(printable(told["message"]), limit)}` : "";
  if (channel === "infra") return paint("red", `  ! ${printable(String(told["code"]))}${message}`);
  if (channel === "marker") return paint("yellow", `  - ${printable(String(told["kind"]))}${message}`);
  return paint("dim", `  - ${printable(channel)} ${shorten(printableJson(payload), limit)}`);
}

function verdict({ verdict: told, step, ms }: ShownVerdict, paint: Paint): string[] {
  const { status, score, passed, reason } = told;
  const checks = (told["checks"] ?? []) as Record<string, unknown>[];
  const graded = status === "graded";
  const what = graded
    ? `score ${number(Number(score))}, ${passed === true ? "passed" : "not passed"}`
    : `ungraded${typeof reason === "string" ? `: ${printable(reason)}` : ""}`;
  const table = renderTable(checks, [
    { title: "check", cell: ({ id }) => printable(String(id)) },
    { title: "status", cell: (check) => printable(String(check["status"])) },
    {
      title: "score",
      right: true,
      cell: ({ score: one }) => (typeof one === "number" ? one.toFixed(2) : "-"),
    },
    { title: "weight", right: true, cell: ({ weight }) => String(Number(weight)) },
    {
      title: "evidence",
      cell: ({ evidence }) =>
        shorten(printable(typeof evidence === "string" ? evidence : ""), overview.columns - 60),
    },
  ]);
  const judged = told["judged_only"] === true ? ", by a judge alone" : "";
  return [
    `${paint("bold", `Verdict after step ${step}`)}  ${paint(graded && passed === true ? "green" : graded ? "red" : "yellow", `${what}${judged}`)}  ${paint("dim", `${ms} ms`)}`,
    ...(checks.length === 0 ? [] : table.map((line) => `  ${line}`)),
  ];
}

function diffLines(patch: string, bounds: Bounds, paint: Paint): string[] {
  const lines = cutLines(printableLines(patch).trimEnd(), bounds);
  return lines.map((line) => {
    const style = /^(---|\+\+\+)/.test(line)
      ? "bold"
      : line.startsWith("+")
        ? "green"
        : line.startsWith("-")
          ? "red"
          : line.startsWith("@@")
            ? "cyan"
            : null;
    return `    ${style === null ? line : paint(style, line)}`;
  });
}

function isEmpty(value: unknown): boolean {
  return typeof value !== "object" || value === null || Object.keys(value).length === 0;
}

function omit(fields: Record<string, unknown>, names: ReadonlySet<string>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.has(name)));
}
