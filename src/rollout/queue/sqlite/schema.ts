/** The file of the embedded queue. */

/** "SKQ1": another program's database is not touched. */
export const applicationId = 0x534b5131;
export const schemaVersion = 1;

/**
 * `first`: its last lease ran out, so it goes before all others. `since_ms`: when it began to wait. `until_ms`: end of the lease, or of the
 * delay. A collected job leaves its id, run and payload behind, so that adding it again is known for what it is.
 */
export const schema = `
CREATE TABLE jobs (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  run TEXT NOT NULL,
  golden TEXT,
  priority INTEGER NOT NULL,
  max_attempts INTEGER NOT NULL,
  payload TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'delayed', 'leased', 'done', 'collected', 'dead')),
  first INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0,
  since_ms INTEGER NOT NULL,
  until_ms INTEGER,
  token TEXT,
  reason TEXT,
  result TEXT,
  claim TEXT,
  claim_until_ms INTEGER
) STRICT;
CREATE INDEX jobs_waiting ON jobs (first DESC, priority DESC, seq) WHERE state = 'waiting';
CREATE INDEX jobs_timed ON jobs (until_ms) WHERE state IN ('leased', 'delayed');
CREATE INDEX jobs_done ON jobs (run, seq) WHERE state = 'done';
CREATE INDEX jobs_claimed ON jobs (claim) WHERE claim IS NOT NULL;
CREATE INDEX jobs_run ON jobs (run);
CREATE TABLE nodes (
  node TEXT PRIMARY KEY,
  url TEXT,
  goldens TEXT NOT NULL,
  until_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE runs (run TEXT PRIMARY KEY, description TEXT NOT NULL) STRICT;
`;
