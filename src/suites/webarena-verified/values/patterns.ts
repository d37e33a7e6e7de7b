/** Patterns of the task set, and, in the faithful profile, of agents: those run under a deadline. */
import { runInNewContext } from "node:vm";

/** Host milliseconds for one pattern; one that takes longer matches nothing. */
const DEADLINE_MS = 500;

/** `re.fullmatch` or `re.match` of a Python pattern; undefined if it is none that can be read. */
export function matches(
  pattern: string,
  text: string,
  { whole, ignoreCase = false }: { whole: boolean; ignoreCase?: boolean },
): boolean | undefined {
  const source = `^(?:${pattern})${whole ? "$" : ""}`;
  try {
    const compiled = new RegExp(source, ignoreCase ? "i" : "");
    return (
      runInNewContext("pattern.test(text)", { pattern: compiled, text }, { timeout: DEADLINE_MS }) === true
    );
  } catch {
    return undefined;
  }
}

/** `re.search` of a pattern of the task set in a name. */
export function found(pattern: string, name: string, ignoreCase: boolean): boolean {
  try {
    return new RegExp(pattern, ignoreCase ? "i" : "").test(name);
  } catch {
    return false;
  }
}
