/** Where to look first: program, judge and person side by side, the most doubtful program first. */
import { type Case, contradicts, telling, type Word, wordOf } from "./cases.js";
import type { CheckRecord } from "./record.js";
import type { Label } from "./schema.js";

/**
 * Ranks of suspicion, the strongest first. A person's label that nobody argues about outweighs everything; a judge only tells apart what
 * the person left open, and breaks ties.
 */
export const suspicions = [
  "a person and a judge contradict the program",
  "a person contradicts the program",
  "a person contradicts the program, a judge agrees with it",
  "the program gives no verdict on what a person has settled",
  "a judge contradicts the program where people argue, or nobody has said",
  "a judge contradicts program and person",
  "people argue, or nobody has said",
  "nobody contradicts the program",
] as const;

type Rank = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7;

/** The last rank with something to look at. */
export const lastOpenRank = 6;

export interface TriagedCase {
  id: string;
  task: string | null;
  /** Index of `suspicions`; 0 is the most likely fault of the program. */
  rank: Rank;
  suspicion: (typeof suspicions)[number];
  program: Word;
  score: number | null;
  judge: Word;
  judge_reason: string | null;
  label: Label | null;
  by: string | null;
  note: string | null;
  reason: string | null;
  checks: CheckRecord[];
  /** A shell command that grades this state anew; null where nothing says how it is reached. */
  regrade: string | null;
}

/**
 * Orders the cases that have a verdict by how likely the program is wrong: by rank; then what passed before what failed, since only a pass is paid for; then the
 * higher score, since a verdict that nearly passed hangs on the fewest checks; then by id.
 */
export function triage(cases: readonly Case[], regrade: (id: string) => string | null): TriagedCase[] {
  return cases
    .filter(({ verdict }) => verdict !== null)
    .map((one) => {
      const { id, task, label, by, note, verdict, judge } = one;
      const rank = rankOf(one);
      return {
        id,
        task,
        rank,
        suspicion: suspicions[rank],
        program: wordOf(verdict),
        score: verdict?.score ?? null,
        judge: wordOf(judge),
        judge_reason: judge?.reason ?? null,
        label,
        by,
        note,
        reason: verdict?.reason ?? null,
        checks: telling(verdict),
        regrade: regrade(id),
      };
    })
    .sort(
      (a, b) =>
        a.rank - b.rank ||
        Number(b.program === "passed") - Number(a.program === "passed") ||
        (b.score ?? 0) - (a.score ?? 0) ||
        (a.id < b.id ? -1 : Number(a.id > b.id)),
    );
}

function rankOf({ verdict, judge, label }: Case): Rank {
  const [program, opinion] = [wordOf(verdict), wordOf(judge)];
  const spoke = opinion === "passed" || opinion === "failed";
  const settled = label === "right" || label === "wrong";
  if (contradicts(program, label)) {
    if (!spoke) return 1;
    return opinion === program ? 2 : 0;
  }
  if (program === "ungraded") return settled ? 3 : 6;
  if (spoke && opinion !== program) return settled ? 5 : 4;
  return settled ? 7 : 6;
}
