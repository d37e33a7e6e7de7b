/**
 * Version 2: what an operator used, its price included, and a leaderboard that tells also under which conditions each of its runs was
 * played, so that unequal ones are seen.
 */
export const version2 = `
ALTER TABLE episodes ADD COLUMN dollars REAL;
ALTER TABLE episodes ADD COLUMN account TEXT CHECK (json_type(account) = 'object');

DROP VIEW comparisons;
DROP VIEW leaderboard;
DROP VIEW task_scores;
DROP VIEW scores;

CREATE VIEW scores AS
SELECT e.run, v.provenance, e.task, e.task_version, e.replica, e.attempt, e.episode,
  v.verifier, v.runtime, v.status, v.score, v.passed, v.reason,
  e.image, e.golden, e.variant, e.steps, e.tokens_in, e.tokens_out, e.dollars
FROM last_attempts AS e JOIN latest_verdicts AS v USING (episode);

CREATE VIEW task_scores AS
SELECT run, provenance, task,
  count(score) AS n, count(*) - count(score) AS ungraded, count(passed) AS judged, sum(passed) AS passed,
  avg(score) AS score_mean, avg(passed) AS pass_rate,
  avg(CASE WHEN score IS NOT NULL THEN steps END) AS steps_mean,
  sum(tokens_in) AS tokens_in, sum(tokens_out) AS tokens_out, sum(dollars) AS dollars
FROM scores GROUP BY run, provenance, task;

CREATE VIEW leaderboard AS
SELECT t.run, r.task_set, r.source, t.provenance, r.operator, r.scaffold, r.model, r.revision, r.seed, r.replicas,
  r.verifier, r.image, r.golden, r.runtime, r.settings, r.labels, r.status, r.began_ms,
  (SELECT group_concat(runtime, ', ') FROM (
    SELECT DISTINCT s.runtime FROM scores AS s WHERE s.run = t.run AND s.provenance = t.provenance ORDER BY 1)) AS graded_by,
  count(*) AS tasks, sum(t.n) AS n, sum(t.passed) AS passed, sum(t.judged) AS judged, sum(t.ungraded) AS ungraded,
  (SELECT count(*) FROM last_attempts AS e WHERE e.run = t.run) - sum(t.n) - sum(t.ungraded) AS missing,
  avg(t.score_mean) AS score_mean, avg(t.pass_rate) AS pass_rate, avg(t.steps_mean) AS steps_mean,
  sum(t.tokens_in) AS tokens_in, sum(t.tokens_out) AS tokens_out, sum(t.dollars) AS dollars
FROM task_scores AS t JOIN run_list AS r USING (run)
GROUP BY t.run, t.provenance;

CREATE VIEW comparisons AS
SELECT a.run AS run_a, b.run AS run_b, a.provenance AS provenance_a, b.provenance AS provenance_b, a.task,
  a.n AS n_a, b.n AS n_b, a.ungraded AS ungraded_a, b.ungraded AS ungraded_b,
  a.score_mean AS score_a, b.score_mean AS score_b, b.score_mean - a.score_mean AS difference
FROM task_scores AS a JOIN task_scores AS b USING (task);
`;
