/** Grades labelled end states on machines, with one version of their tasks or with two. */
import type { LoadedTask } from "../../env/task/index.js";
import { ShinkenError } from "../../errors/index.js";
import type { SandboxProvider } from "../../sandbox/sandbox.js";
import { canonicalJson } from "../../verifiers/canonical.js";
import type { JudgeModel } from "../../verifiers/index.js";
import type { EndState } from "./corpus.js";
import { type PlacedState, placeStates, StateReacher } from "./reach.js";
import { recordOf, type VerdictRecord } from "./record.js";

export interface GradeStatesOptions {
  states: readonly EndState[];
  tasks: readonly LoadedTask[];
  provider: SandboxProvider;
  /** Answers judge nodes. */
  judge?: JudgeModel | undefined;
  /** Told as each state has been graded. */
  onState?: (id: string, done: number, all: number) => void;
}

/** With what no state can be reached: it ends the work. Everything else leaves the one state ungraded. */
const hopeless: ReadonlySet<string> = new Set(["image_missing", "host_unsupported", "disk_full"]);

/**
 * Reaches every state and grades it; verdicts by the states' ids. A state that cannot be reached is ungraded, and says why. Rejects
 * with `unknown_task`, `bad_request` or `bad_action` before any machine starts, or if no machine can be made.
 */
export async function gradeStates(options: GradeStatesOptions): Promise<Map<string, VerdictRecord>> {
  const found = await gradeEach({
    ...options,
    placed: placeStates(options.states, options.tasks),
    against: null,
  });
  return new Map([...found].map(([id, [verdict]]) => [id, verdict]));
}

/** The verdicts of two versions on one state. */
export type VerdictPair = [VerdictRecord, VerdictRecord];

/**
 * Grades every state with two versions of its task. Where they begin alike and have one oracle, the state is reached once and both
 * grade the very same machine; otherwise each reaches its own. A task that is the same in both is not graded: `same` counts its states.
 */
export async function gradeStatesTwice(
  options: GradeStatesOptions & { against: readonly LoadedTask[] },
): Promise<{ verdicts: Map<string, VerdictPair>; same: number }> {
  const first = placeStates(options.states, options.tasks);
  const second = new Map(
    placeStates(options.states, options.against).map((placed) => [placed.state.id, placed]),
  );
  const placed = first.filter(
    ({ state, task, variant }) =>
      second.get(state.id)?.task.digest !== task.digest ||
      second.get(state.id)?.variant.digest !== variant.digest,
  );
  const found = await gradeEach({ ...options, placed, against: second });
  const verdicts = new Map(
    [...found].flatMap(([id, [a, b]]): [string, VerdictPair][] => (b === undefined ? [] : [[id, [a, b]]])),
  );
  return { verdicts, same: first.length - placed.length };
}

async function gradeEach(
  options: GradeStatesOptions & {
    placed: readonly PlacedState[];
    against: ReadonlyMap<string, PlacedState> | null;
  },
): Promise<Map<string, [VerdictRecord, VerdictRecord?]>> {
  const found = new Map<string, [VerdictRecord, VerdictRecord?]>();
  const reachers = [
    new StateReacher(options.provider, options.judge),
    new StateReacher(options.provider, options.judge),
  ] as const;
  // Place by place: what comes before the states of one is played once.
  const places = new Map<string, number>();
  for (const { place } of options.placed) if (!places.has(place)) places.set(place, places.size);
  const rank = ({ place }: PlacedState): number => places.get(place) ?? 0;
  const ordered = [...options.placed].sort((a, b) => rank(a) - rank(b));
  try {
    for (const placed of ordered) {
      const { id } = placed.state;
      const other = options.against?.get(id);
      if (other !== undefined && !alike(placed, other)) {
        const [a] = await graded(reachers[0], placed, [placed.task]);
        const [b] = await graded(reachers[1], other, [other.task]);
        found.set(id, [a, b]);
      } else {
        const graders = other === undefined ? [placed.task] : [placed.task, other.task];
        found.set(id, await graded(reachers[0], placed, graders));
      }
      options.onState?.(id, found.size, ordered.length);
    }
    return found;
  } finally {
    for (const reacher of reachers) await reacher.close();
  }
}

/** Whether two versions bring a machine to the same state: one setup, one oracle, the same parameters. */
function alike(a: PlacedState, b: PlacedState): boolean {
  const way = ({ variant }: PlacedState) =>
    canonicalJson([variant.setupDigest, variant.params, variant.task.oracle, variant.task.cwd ?? null]);
  return way(a) === way(b);
}

async function graded(
  reacher: StateReacher,
  placed: PlacedState,
  graders: readonly LoadedTask[],
): Promise<[VerdictRecord, VerdictRecord?]> {
  try {
    const [a, b] = (await reacher.grade(placed, graders)).map(recordOf);
    if (a === undefined) throw new TypeError("each grader gives a verdict");
    return b === undefined ? [a] : [a, b];
  } catch (error) {
    if (!(error instanceof ShinkenError) || hopeless.has(error.code)) throw error;
    const verdict: VerdictRecord = {
      status: "ungraded",
      score: null,
      passed: null,
      reason: `not reached: ${error.code}: ${error.message}`,
      checks: [],
    };
    return graders.length === 1 ? [verdict] : [verdict, verdict];
  }
}
