import { ShinkenError } from "../errors/index.js";

/** Signals that ask a command to end. */
const signals = ["SIGINT", "SIGTERM"] as const;

/**
 * A signal that is aborted by the first Ctrl-C, so that a command may end in order; the second one ends it at once. `end` gives the
 * process its old ways back.
 */
export function interruptible(): { signal: AbortSignal; end(): void } {
  const controller = new AbortController();
  const end = () => {
    for (const name of signals) process.removeListener(name, stop);
  };
  const stop = (name: NodeJS.Signals) => {
    end();
    process.stderr.write(`\n${name}: stopping what plays; once more ends at once\n`);
    controller.abort(new ShinkenError("cancelled", `the run was ended by ${name}`));
  };
  for (const name of signals) process.on(name, stop);
  return { signal: controller.signal, end };
}
