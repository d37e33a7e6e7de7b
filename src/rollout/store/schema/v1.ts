/**
 * Version 1 of the schema. What was released is never edited: a change is a new version. The guards keep rows as they were written,
 * also from `INSERT OR REPLACE`, which would delete without asking the delete triggers.
 */
const text = "TEXT NOT NULL";
const object = (name: string): string => `${name} ${text} CHECK (json_type(${name}) = 'object')`;
const array = (name: string): string => `${name} ${text} CHECK (json_type(${name}) = 'array')`;

const tables = `
CREATE TABLE runs (
  run ${text} PRIMARY KEY,
  began_ms INTEGER NOT NULL,
  source ${text} CHECK (source IN ('played', 'imported', 'reported')),
  task_set ${text},
  verifier ${text},
  image TEXT,
  golden TEXT,
  runtime ${text},
  operator ${text},
  scaffold TEXT,
  model TEXT,
  revision TEXT,
  seed INTEGER NOT NULL,
  replicas INTEGER NOT NULL CHECK (replicas >= 1),
  ${object("settings")},
  ${object("labels")}
) STRICT;

CREATE TABLE run_ends (
  seq INTEGER PRIMARY KEY,
  run ${text} REFERENCES runs (run),
  status ${text} CHECK (status IN ('finished', 'interrupted', 'failed')),
  ended_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE episodes (
  seq INTEGER PRIMARY KEY,
  episode ${text} UNIQUE,
  run ${text} REFERENCES runs (run),
  task ${text},
  task_version ${text},
  variant TEXT,
  ${object("params")},
  replica INTEGER NOT NULL CHECK (replica >= 0),
  attempt INTEGER NOT NULL CHECK (attempt >= 0),
  seed INTEGER,
  image TEXT,
  golden TEXT,
  file TEXT,
  sha256 TEXT,
  ${array("milestones")},
  reward REAL,
  steps INTEGER,
  truncated INTEGER NOT NULL CHECK (truncated IN (0, 1)),
  ready_ms REAL,
  reset_ms REAL,
  ${array("step_ms")},
  ${array("operator_ms")},
  evaluate_ms REAL,
  tokens_in INTEGER,
  tokens_out INTEGER,
  model_ms REAL,
  guest_ms REAL,
  harness_ms REAL,
  judge_ms REAL,
  ${object("labels")},
  stored_ms INTEGER NOT NULL,
  UNIQUE (run, task, replica, attempt)
) STRICT;

CREATE TABLE verdicts (
  seq INTEGER PRIMARY KEY,
  episode ${text},
  provenance ${text} CHECK (provenance IN ('recorded', 'regraded', 'self_reported')),
  task ${text},
  task_version ${text},
  verifier TEXT,
  runtime ${text},
  by ${text} CHECK (by IN ('session', 'rerun', 'state', 'report')),
  status ${text} CHECK (status IN ('graded', 'ungraded')),
  score REAL CHECK (score BETWEEN 0 AND 1),
  passed INTEGER CHECK (passed IN (0, 1)),
  reason TEXT,
  verdict TEXT CHECK (json_type(verdict) = 'object'),
  file TEXT,
  sha256 TEXT,
  stored_ms INTEGER NOT NULL,
  CHECK ((status = 'graded') = (score IS NOT NULL)),
  CHECK (status = 'graded' OR passed IS NULL),
  CHECK (status = 'ungraded' OR passed IS NOT NULL OR provenance = 'self_reported')
) STRICT;

CREATE UNIQUE INDEX verdicts_told_once ON verdicts (episode) WHERE provenance <> 'regraded';
CREATE INDEX verdicts_of_episodes ON verdicts (episode, provenance);
CREATE INDEX verdicts_by_grader ON verdicts (episode, verifier, runtime);
CREATE INDEX run_ends_by_run ON run_ends (run);
`;

/** Columns whose values no two rows of a table share. */
const keys = {
  runs: [["run"]],
  run_ends: [["seq"]],
  episodes: [["seq"], ["episode"], ["run", "task", "replica", "attempt"]],
  verdicts: [["seq"]],
} as const;

function guards(): string {
  return Object.entries(keys)
    .map(([table, sets]) => {
      const same = sets
        .map((columns) => `(${columns.map((column) => `${column} = NEW.${column}`).join(" AND ")})`)
        .join(" OR ");
      return `
CREATE TRIGGER ${table}_no_update BEFORE UPDATE ON ${table}
BEGIN SELECT RAISE(ABORT, '${table} is append-only: no row is changed'); END;
CREATE TRIGGER ${table}_no_delete BEFORE DELETE ON ${table}
BEGIN SELECT RAISE(ABORT, '${table} is append-only: no row is removed'); END;
CREATE TRIGGER ${table}_no_replace BEFORE INSERT ON ${table}
WHEN EXISTS (SELECT 1 FROM ${table} WHERE ${same})
BEGIN SELECT RAISE(ABORT, '${table} is append-only: a row of this key is there'); END;`;
    })
    .join("\n");
}

/** A score that somebody told stays what it is: it is never stored as one that was recorded, nor the other way round. */
const provenanceGuards = `
CREATE TRIGGER verdicts_told_replace BEFORE INSERT ON verdicts
WHEN NEW.provenance <> 'regraded'
  AND EXISTS (SELECT 1 FROM verdicts WHERE episode = NEW.episode AND provenance <> 'regraded')
BEGIN SELECT RAISE(ABORT, 'verdicts is append-only: the verdict of this episode is there'); END;
CREATE TRIGGER verdicts_recorded_here BEFORE INSERT ON verdicts
WHEN NEW.provenance = 'recorded' AND NOT EXISTS (
  SELECT 1 FROM episodes JOIN runs USING (run) WHERE episode = NEW.episode AND source <> 'reported')
BEGIN SELECT RAISE(ABORT, 'provenance: only episodes that were played have recorded verdicts'); END;
CREATE TRIGGER verdicts_self_reported BEFORE INSERT ON verdicts
WHEN NEW.provenance = 'self_reported' AND NOT EXISTS (
  SELECT 1 FROM episodes JOIN runs USING (run) WHERE episode = NEW.episode AND source = 'reported')
BEGIN SELECT RAISE(ABORT, 'provenance: only episodes of reported runs have self-reported verdicts'); END;
`;

const views = `
CREATE VIEW run_list AS
SELECT runs.*,
  (SELECT status FROM run_ends WHERE run_ends.run = runs.run ORDER BY seq DESC LIMIT 1) AS status,
  (SELECT ended_ms FROM run_ends WHERE run_ends.run = runs.run ORDER BY seq DESC LIMIT 1) AS ended_ms,
  (SELECT count(*) FROM episodes WHERE episodes.run = runs.run) AS episodes
FROM runs;

CREATE VIEW last_attempts AS
SELECT * FROM episodes AS one
WHERE attempt = (SELECT max(attempt) FROM episodes AS other
  WHERE other.run = one.run AND other.task = one.task AND other.replica = one.replica);

CREATE VIEW latest_verdicts AS
SELECT * FROM verdicts AS one
WHERE seq = (SELECT max(seq) FROM verdicts AS other
  WHERE other.episode = one.episode AND other.provenance = one.provenance);

CREATE VIEW scores AS
SELECT e.run, v.provenance, e.task, e.task_version, e.replica, e.attempt, e.episode,
  v.verifier, v.runtime, v.status, v.score, v.passed, v.reason,
  e.steps, e.tokens_in, e.tokens_out
FROM last_attempts AS e JOIN latest_verdicts AS v USING (episode);

CREATE VIEW task_scores AS
SELECT run, provenance, task,
  count(score) AS n, count(*) - count(score) AS ungraded, count(passed) AS judged, sum(passed) AS passed,
  avg(score) AS score_mean, avg(passed) AS pass_rate,
  avg(CASE WHEN score IS NOT NULL THEN steps END) AS steps_mean,
  sum(tokens_in) AS tokens_in, sum(tokens_out) AS tokens_out
FROM scores GROUP BY run, provenance, task;

CREATE VIEW leaderboard AS
SELECT t.run, r.task_set, r.source, t.provenance, r.operator, r.scaffold, r.model, r.revision, r.seed, r.replicas,
  r.status, r.began_ms,
  (SELECT group_concat(runtime, ', ') FROM (
    SELECT DISTINCT s.runtime FROM scores AS s WHERE s.run = t.run AND s.provenance = t.provenance ORDER BY 1)) AS graded_by,
  count(*) AS tasks, sum(t.n) AS n, sum(t.passed) AS passed, sum(t.ungraded) AS ungraded,
  (SELECT count(*) FROM last_attempts AS e WHERE e.run = t.run) - sum(t.n) - sum(t.ungraded) AS missing,
  avg(t.score_mean) AS score_mean, avg(t.pass_rate) AS pass_rate, avg(t.steps_mean) AS steps_mean,
  sum(t.tokens_in) AS tokens_in, sum(t.tokens_out) AS tokens_out
FROM task_scores AS t JOIN run_list AS r USING (run)
GROUP BY t.run, t.provenance;

CREATE VIEW comparisons AS
SELECT a.run AS run_a, b.run AS run_b, a.provenance AS provenance_a, b.provenance AS provenance_b, a.task,
  a.n AS n_a, b.n AS n_b, a.ungraded AS ungraded_a, b.ungraded AS ungraded_b,
  a.score_mean AS score_a, b.score_mean AS score_b, b.score_mean - a.score_mean AS difference
FROM task_scores AS a JOIN task_scores AS b USING (task);
`;

export const version1 = [tables, guards(), provenanceGuards, views].join("\n");
