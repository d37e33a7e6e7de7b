/** From a scenario to a question with its key: drawn, checked, arranged, given a format. */
import { checkKey } from "../contracts/key.js";
import { contractSchema } from "../contracts/schema.js";
import { formats, letters } from "./formats.js";
import { Random } from "./random.js";
import type { Candidate, Category, Draft, Key, Question, ResponseFormat, Scenario } from "./types.js";

/** Characters of an option, of a part, of a situation. */
const optionAtMost = 400;
const situationAtMost = 2_400;

export interface Place {
  category: Category;
  format: ResponseFormat;
  position: number;
  pass: number;
  /** Names the edition's content: another seed, other instances. */
  seed: string;
  /** Place of the right option, 0 to 3. */
  right: number;
}

/** The question of a place. Throws a RangeError that names scenario and fault where a draft breaks a rule. */
export function instantiate(scenario: Scenario, place: Place): { question: Question; key: Key } {
  const { category, format, position, pass } = place;
  const random = new Random([place.seed, category, format, position, pass, scenario.name].join("\0"));
  const draft = sound(scenario, random);
  const options = random.shuffled<Candidate>(draft.wrong);
  options.splice(place.right, 0, draft.right);
  const letter = letters[place.right] ?? "";
  const { instruction, contract, key } = formats[format]({ draft, options, letter, random });
  const id = `${category}.${format}.${String(position).padStart(3, "0")}.p${pass}`;
  const checked = contractSchema.parse(contract);
  checkKey(checked, key, [id]);
  const [a, b, c, d] = options.map(({ text }) => text) as [string, string, string, string];
  return {
    question: {
      id,
      category,
      format,
      position,
      pass,
      scenario: scenario.name,
      situation: draft.situation,
      question: draft.question,
      options: [a, b, c, d],
      instruction,
      contract: checked,
    },
    key: { id, key, option: letter },
  };
}

/** Numbers meet by chance: then the next draw of the same stream counts. */
const drawsAtMost = 32;

function sound(scenario: Scenario, random: Random): Draft {
  let fault = "";
  for (let n = 0; n < drawsAtMost; n += 1) {
    const draft = scenario.draw(random);
    const found = faultOf(draft);
    if (found === null) return draft;
    fault = found;
  }
  throw new RangeError(`the scenario ${scenario.name} breaks a rule of authoring: ${fault}`);
}

/** Which rule of authoring a draft breaks; null for none. */
export function faultOf(draft: Draft): string | null {
  const { situation, question, fields, right, wrong } = draft;
  const candidates = [right, ...wrong];
  if (situation.length > situationAtMost) return "the situation is too long";
  if (situation.trim() !== situation || situation === "")
    return "the situation is empty or has white space around it";
  if (!question.endsWith("?")) return "the question has no question mark";
  if (fields.length < 2 || fields.length > 4) return "a candidate has 2 to 4 parts";
  if (new Set([...fields, "choice"]).size !== fields.length + 1)
    return "parts share a name, or one is called choice";
  for (const { text, values } of candidates) {
    if (values.length !== fields.length) return `"${text}" has ${values.length} parts`;
    const bad = [text, ...values].find(
      (one) =>
        one === "" ||
        one.trim() !== one ||
        /[\r\n\t\u0085\u2028\u2029]/.test(one) ||
        one.length > optionAtMost,
    );
    if (bad !== undefined) return `"${bad}" is empty, too long, or not one plain line`;
    const quoted = values.find((one) => one.includes('"'));
    if (quoted !== undefined) return `the part ${quoted} has a double quotation mark`;
  }
  const plain = (one: string) => one.toLowerCase().replace(/\s+/g, " ");
  if (new Set(candidates.map(({ text }) => plain(text))).size !== 4) return "two options are alike";
  if (new Set(candidates.map(({ values }) => plain(values.join("\t")))).size !== 4)
    return "two options have the same parts";
  return null;
}
