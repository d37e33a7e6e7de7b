/** Version 2: a leaderboard tells also under which conditions each of its runs was played, so that unequal ones are seen. */
export const version2 = `
DROP VIEW leaderboard;
CREATE VIEW leaderboard AS
SELECT t.run, r.task_set, r.source, t.provenance, r.operator, r.scaffold, r.model, r.revision, r.seed, r.replicas,
  r.verifier, r.image, r.golden, r.runtime, r.settings, r.labels, r.status, r.began_ms,
  (SELECT group_concat(runtime, ', ') FROM (
    SELECT DISTINCT s.runtime FROM scores AS s WHERE s.run = t.run AND s.provenance = t.provenance ORDER BY 1)) AS graded_by,
  count(*) AS tasks, sum(t.n) AS n, sum(t.passed) AS passed, sum(t.judged) AS judged, sum(t.ungraded) AS ungraded,
  (SELECT count(*) FROM last_attempts AS e WHERE e.run = t.run) - sum(t.n) - sum(t.ungraded) AS missing,
  avg(t.score_mean) AS score_mean, avg(t.pass_rate) AS pass_rate, avg(t.steps_mean) AS steps_mean,
  sum(t.tokens_in) AS tokens_in, sum(t.tokens_out) AS tokens_out
FROM task_scores AS t JOIN run_list AS r USING (run)
GROUP BY t.run, t.provenance;
`;
