/** What people really start: the commands of the exec mix, in any guest that runs them. */
import type { ExecRequest, ExecResult } from "../src/sandbox/sandbox.js";
import { type Median, median } from "./statistics.js";

const TRUE_RUNS = 1000;
const PYTHON_RUNS = 20;
const GIT_RUNS = 20;
const SQLITE_RUNS = 5;

const REPOSITORY =
  "mkdir -p /tmp/repo && cd /tmp/repo && git init -q . && for i in $(seq 50); do echo $i > f$i; done && git add .";
const ROWS = `create table t(a integer primary key, b integer);
  with recursive n(x) as (select 1 union all select x + 1 from n where x < 100000) insert into t select x, x * 7919 % 1000 from n;
  select count(*), sum(a) from t group by b % 10 order by 2;`;

/** Whoever runs commands in a guest. */
export interface Guest {
  exec(request: ExecRequest): Promise<ExecResult>;
  /** Executed so far; NaN where nobody counts. */
  instructions(): number;
}

/** One command of the mix, run some times. */
interface Taken {
  ms: number[];
  instructions: number;
}

export interface Mix {
  /** What the mix is rated by: `true`, Python and git. */
  rated: Taken[];
  times: {
    true_ms: Median;
    python_ms: Median;
    git_status_ms: Median;
    /** 100,000 rows written, put into groups and summed in SQLite. */
    sqlite_ms: Median;
  };
}

async function repeat(guest: Guest, argv: string[], times: number, cwd?: string): Promise<Taken> {
  const ms: number[] = [];
  const before = guest.instructions();
  for (let i = 0; i < times; i++) {
    const start = performance.now();
    const result = await guest.exec({ argv, cwd });
    ms.push(performance.now() - start);
    if (result.exitCode !== 0) {
      throw new Error(
        `${argv.join(" ")} ended with ${result.exitCode}: ${Buffer.from(result.stderr).toString()}`,
      );
    }
  }
  return { ms, instructions: guest.instructions() - before };
}

/** Runs the mix; `times` scales the number of runs. */
export async function execMix(guest: Guest, times: (count: number) => number): Promise<Mix> {
  await repeat(guest, ["sh", "-c", REPOSITORY], 1);
  const trues = await repeat(guest, ["/bin/true"], times(TRUE_RUNS));
  const python = await repeat(guest, ["python3", "-c", "print(1)"], times(PYTHON_RUNS));
  const git = await repeat(guest, ["git", "status", "--short"], times(GIT_RUNS), "/tmp/repo");
  const sqlite = await repeat(guest, ["sqlite3", ":memory:", ROWS], times(SQLITE_RUNS));
  return {
    rated: [trues, python, git],
    times: {
      true_ms: median(trues.ms),
      python_ms: median(python.ms),
      git_status_ms: median(git.ms),
      sqlite_ms: median(sqlite.ms),
    },
  };
}

/** Million instructions a second; where the guest does not count, by what each command took in a guest that does. */
export function mips(mix: Mix, counted: Mix = mix): number {
  let instructions = 0;
  let ms = 0;
  mix.rated.forEach((taken, i) => {
    const reference = counted.rated[i];
    if (reference === undefined) return;
    instructions += (reference.instructions / reference.ms.length) * taken.ms.length;
    ms += taken.ms.reduce((sum, one) => sum + one, 0);
  });
  return instructions / ms / 1000;
}
