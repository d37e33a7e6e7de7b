/**
 * Versions of the modules that decide verdicts. Raise one whenever the same state could be judged differently: old and
 * new verdicts then differ in `verifier_version` and are never compared unawares.
 */
export const moduleVersions = {
  graph: 1,
  "channel/fs": 1,
  "channel/process": 1,
  "channel/sqlite": 1,
  "channel/exec-json": 1,
  "channel/episode": 1,
  "assert/text": 1,
  "assert/number": 1,
  "assert/json": 1,
  "assert/table": 1,
  "assert/file": 1,
  "assert/list": 1,
  "assert/set": 1,
  "assert/bytes": 1,
} as const;
