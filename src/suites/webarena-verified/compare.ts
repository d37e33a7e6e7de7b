/** Compares values, all the way down, and says in the published names what differs. */
import { type Reading, sameSingle } from "./kinds.js";
import { Fields, shownValue, type Value } from "./value.js";

/** One thing that does not hold. */
export interface Assertion {
  /** As published, e.g. `agent_response.task_type_mismatch`. */
  name: string;
  message: string;
}

export interface CompareRules {
  reading: Reading;
  ordered?: boolean;
  /** Fields that must be there but are compared elsewhere. */
  uncompared?: ReadonlySet<string>;
  extraFields?: boolean;
}

const text = (value: Value): string => JSON.stringify(shownValue(value));

export function compareValues(
  expected: Value,
  actual: Value,
  path: string,
  rules: CompareRules,
): Assertion[] {
  if (expected === null && actual === null) return [];
  if (expected === null || actual === null) {
    return [{ name: `${path}_none_mismatch`, message: `expected ${text(expected)}, got ${text(actual)}` }];
  }
  if (expected instanceof Fields) return compareFields(expected, actual, path, rules);
  if (Array.isArray(expected)) return compareLists(expected as readonly Value[], actual, path, rules);
  return sameSingle(expected, actual, rules.reading)
    ? []
    : [{ name: `${path}_mismatch`, message: `expected ${text(expected)}, got ${text(actual)}` }];
}

function compareFields(expected: Fields, actual: Value, path: string, rules: CompareRules): Assertion[] {
  if (!(actual instanceof Fields)) {
    return [{ name: `${path}_invalid_format`, message: `expected fields, got ${text(actual)}` }];
  }
  const missing = [...expected.keys()].filter((name) => !actual.has(name));
  const extra = rules.extraFields === true ? [] : [...actual.keys()].filter((name) => !expected.has(name));
  const found: Assertion[] = [];
  if (missing.length + extra.length > 0) {
    const said = [
      ...(extra.length > 0 ? [`not expected: ${extra.join(", ")}`] : []),
      ...(missing.length > 0 ? [`missing: ${missing.join(", ")}`] : []),
    ];
    found.push({ name: `${path}_keys_mismatch`, message: said.join("; ") });
  }
  for (const [name, value] of expected) {
    const other = actual.get(name);
    if (other === undefined || rules.uncompared?.has(name) === true) continue;
    found.push(...compareValues(value, other, `${path}.${name}`, rules));
  }
  return found;
}

function compareLists(
  expected: readonly Value[],
  actual: Value,
  path: string,
  rules: CompareRules,
): Assertion[] {
  if (!Array.isArray(actual)) {
    return [{ name: `${path}_invalid_format`, message: `expected a list, got ${text(actual)}` }];
  }
  const got = actual as readonly Value[];
  const differs = {
    name: `${path}_array_values_mismatch`,
    message: `expected ${text(expected)}, got ${text(got)}`,
  };
  if (rules.ordered === true) {
    const nested = expected.flatMap((one, index) =>
      index < got.length ? compareValues(one, got[index] ?? null, `${path}[${index}]`, rules) : [],
    );
    return expected.length === got.length ? nested : [...nested, differs];
  }
  const left = [...got];
  const unmatched = expected.filter((one) => {
    const at = left.findIndex((other) => compareValues(one, other, path, rules).length === 0);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
  return unmatched.length + left.length === 0 ? [] : [differs];
}
