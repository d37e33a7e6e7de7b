/** Records that a schema takes, but for one rule. */
import type { Random } from "../../random.js";
import type { Candidate, Scenario } from "../../types.js";
import { plainWords } from "../../words.js";
import { record } from "./record.js";

interface Entry {
  name: string;
  port: number;
  mode: string;
}

interface Schema {
  letters: number;
  /** Names have more letters than that; else at most as many. */
  longer: boolean;
  low: number;
  high: number;
  even: boolean;
  modes: readonly string[];
  oldModes: readonly string[];
}

const rules = {
  name: ({ name }: Entry, { letters, longer }: Schema) => name.length > letters === longer,
  range: ({ port }: Entry, { low, high }: Schema) => port >= low && port <= high,
  parity: ({ port }: Entry, { even }: Schema) => (port % 2 === 0) === even,
  mode: ({ mode }: Entry, { modes }: Schema) => modes.includes(mode),
};
type Rule = keyof typeof rules;
const ruleNames = Object.keys(rules) as Rule[];

const show = record(["name", "port", "mode"]);

/** An entry that breaks exactly this rule, or none: drawn until the rules themselves say so. */
function entry(random: Random, schema: Schema, broken?: Rule): Candidate {
  const { low, high } = schema;
  for (;;) {
    const beyond = random.between(1, 40);
    const drawn: Entry = {
      name: random.pick(plainWords),
      port: broken === "range" ? random.pick([low - beyond, high + beyond]) : random.between(low, high),
      mode: random.pick([...schema.modes, ...schema.oldModes]),
    };
    const breaks = ruleNames.filter((rule) => !rules[rule](drawn, schema));
    if (breaks.length === (broken === undefined ? 0 : 1) && breaks[0] === broken)
      return show(drawn.name, String(drawn.port), drawn.mode);
  }
}

/** Each wrong record breaks exactly one rule. */
export const schemaRecord: Scenario = {
  name: "schema-record",
  draw(random) {
    const low = random.between(20, 600) * 10;
    const modes = random.shuffled(["fast", "safe", "both", "slow", "none", "full"]);
    const schema: Schema = {
      letters: 5,
      longer: random.chance(0.5),
      low,
      high: low + random.between(2, 30) * 10,
      even: random.chance(0.5),
      modes: modes.slice(0, 3),
      oldModes: modes.slice(3),
    };
    const [a, b, c] = random.some(ruleNames, 3);
    return {
      situation: `A schema for records: name is one word of ${schema.longer ? `more than ${schema.letters}` : `at most ${schema.letters}`} letters; port is an ${schema.even ? "even" : "odd"} whole number from ${low} to ${schema.high}, both included; mode is ${schema.modes.join(" or ")}. The modes ${schema.oldModes.join(", ")} of an older schema are not allowed any more.`,
      question: "Which record satisfies the schema?",
      fields: ["name", "port", "mode"],
      right: entry(random, schema),
      wrong: [entry(random, schema, a), entry(random, schema, b), entry(random, schema, c)],
    };
  },
};
