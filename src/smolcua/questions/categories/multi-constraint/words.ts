/** Words, names and sentences under constraints. */
import type { Random } from "../../random.js";
import type { Scenario } from "../../types.js";
import { cities, people } from "../../words.js";
import { labelWords } from "./label-words.js";
import { letter, part, puzzleDraft, rising, type Rule, rules, separator, textLength } from "./puzzle.js";

const marks = [
  ["-", "hyphens"],
  ["_", "underscores"],
  [".", "full stops"],
  ["+", "plus signs"],
] as const;

const alphabetical: Rule = (random) =>
  random.chance(0.5)
    ? { says: "The words stand in alphabetical order.", holds: ({ values }) => rising(lower(values)) }
    : {
        says: "The words stand in reverse alphabetical order.",
        holds: ({ values }) => rising(lower(values).toReversed()),
      };

const lower = (values: readonly string[]): string[] => values.map((value) => value.toLowerCase());

const lastLength: Rule = (random) => {
  const count = random.between(3, 6);
  const longer = random.chance(0.5);
  const limit = longer ? Math.min(count, 5) : Math.max(count, 4);
  return {
    says: `The last word has ${longer ? "at least" : "at most"} ${limit} letters.`,
    holds: ({ values }) => {
      const { length } = values.at(-1) ?? "";
      return longer ? length >= limit : length <= limit;
    },
  };
};

const differentLengths: Rule = (random) =>
  random.chance(0.5)
    ? {
        says: "The first word has fewer letters than the second.",
        holds: (one) => part(one, 0).length < part(one, 1).length,
      }
    : {
        says: "The first word has as many letters as the second.",
        holds: (one) => part(one, 0).length === part(one, 1).length,
      };

const vowelFirst: Rule = (random) => {
  const wanted = random.chance(0.4);
  return {
    says: `The first word begins with ${wanted ? "a vowel" : "a consonant"}; the vowels are a, e, i, o and u.`,
    holds: (one) => /^[aeiou]/i.test(part(one, 0)) === wanted,
  };
};

/** Small letters throughout. */
export const wordTriples: Scenario = {
  name: "word-triples",
  draw: (random) =>
    puzzleDraft(random, () => ({
      intro: "A label is made of three words with the same mark between them.",
      thing: "label",
      fields: ["first", "second", "third"],
      draw: () => {
        const values = random.some(labelWords, 3);
        const [mark] = random.pick(marks);
        return { text: values.join(mark), values };
      },
      constraints: rules(
        random,
        [
          separator((name) => `The words are joined by ${name}.`, marks),
          alphabetical,
          lastLength,
          differentLengths,
          vowelFirst,
          textLength(16),
          letter("aeilor"),
        ],
        4,
      ),
    })),
};

const cases = {
  "Every word begins with a capital; its other letters are small.": (word: string) =>
    word.slice(0, 1).toUpperCase() + word.slice(1),
  "Only the first word begins with a capital; all other letters are small.": (word: string, at: number) =>
    at === 0 ? word.slice(0, 1).toUpperCase() + word.slice(1) : word,
  "All letters are capitals.": (word: string) => word.toUpperCase(),
  "All letters are small.": (word: string) => word,
} as const;
const caseNames = Object.keys(cases) as (keyof typeof cases)[];

const caseRule: Rule = (random) => {
  const says = random.pick(caseNames);
  return {
    says,
    holds: ({ values }) => values.every((value, at) => value === cases[says](value.toLowerCase(), at)),
  };
};

/** Case is a rule of its own here. */
export const headlines: Scenario = {
  name: "headlines",
  draw: (random) =>
    puzzleDraft(random, () => ({
      intro: "A headline is made of three words with single spaces between them.",
      thing: "headline",
      fields: ["first", "second", "third"],
      draw: () => {
        const style = cases[random.pick(caseNames)];
        const values = random.some(labelWords, 3).map((word, at) => style(word, at));
        return { text: values.join(" "), values };
      },
      constraints: [
        caseRule(random),
        ...rules(
          random,
          [alphabetical, lastLength, differentLengths, vowelFirst, textLength(16), letter("aeilor")],
          3,
        ),
      ],
    })),
};

const cityLength: Rule = (random) => {
  const count = random.between(4, 6);
  return { says: `The city has exactly ${count} letters.`, holds: (one) => part(one, 2).length === count };
};

const nameOrder: Rule = (random) => {
  const up = random.chance(0.5);
  return {
    says: `The first person comes ${up ? "before" : "after"} the second in the alphabet.`,
    holds: (one) => part(one, 0) < part(one, 1) === up,
  };
};

const nameLengths: Rule = (random) => {
  const count = random.between(8, 10);
  return {
    says: `The two persons' names have ${count} letters together.`,
    holds: (one) => part(one, 0).length + part(one, 1).length === count,
  };
};

const endMark: Rule = (random) => {
  const [mark, name] = random.pick([
    [".", "a full stop"],
    ["!", "an exclamation mark"],
  ] as const);
  return { says: `It ends with ${name}.`, holds: ({ text }) => text.endsWith(mark) };
};

function sentence(random: Random) {
  const [one = "", two = ""] = random.some(people, 2);
  const city = random.pick(cities);
  const verb = random.pick(["meets", "calls", "joins"]);
  return { text: `${one} ${verb} ${two} in ${city}${random.pick([".", "!"])}`, values: [one, two, city] };
}

export const sentences: Scenario = {
  name: "sentences",
  draw: (random) =>
    puzzleDraft(random, () => ({
      intro: "A sentence names two persons and a city.",
      thing: "sentence",
      fields: ["first_person", "second_person", "city"],
      draw: () => sentence(random),
      constraints: rules(
        random,
        [cityLength, nameOrder, nameLengths, endMark, textLength(25), letter("dkprtu")],
        4,
      ),
    })),
};
