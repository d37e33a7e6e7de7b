import { PROMPT_VERSION } from "./judge/prompt.js";
import { normalisers } from "./assertions/normalise.js";
import { channels } from "./channels/schema.js";

/** Version of the way from a scorer node to its scorer; the scorer has its own in its id. */
export const scorerNodeVersion = 1;

/**
 * Versions of the modules that decide verdicts. Raise one whenever the same state could be judged differently: old and
 * new verdicts then differ in `verifier_version` and are never compared unawares.
 */
export const moduleVersions: Readonly<Record<string, number>> = {
  graph: 1,
  code: 1,
  judge: PROMPT_VERSION,
  ...Object.fromEntries(Object.entries(channels).map(([name, { version }]) => [`channel/${name}`, version])),
  ...Object.fromEntries(
    Object.entries(normalisers).map(([name, { version }]) => [`normalise/${name}`, version]),
  ),
  "assert/text": 1,
  "assert/number": 1,
  "assert/json": 1,
  "assert/table": 1,
  "assert/file": 1,
  "assert/list": 1,
  "assert/set": 1,
  "assert/bytes": 1,
  "assert/quantity": 1,
  "assert/date": 1,
  "assert/image": 1,
};
