/** Codes and groups of digits under constraints. */
import type { Scenario } from "../../types.js";
import { different, digitSum, divisible, parity } from "./digits.js";
import { part, puzzleDraft, rising, rules, separator } from "./puzzle.js";

const marks = [
  ["-", "a hyphen"],
  ["/", "a slash"],
  [":", "a colon"],
] as const;

export const codes: Scenario = {
  name: "codes",
  draw: (random) =>
    puzzleDraft(random, () => ({
      intro: "A code is made of three capital letters, one mark and three digits.",
      thing: "code",
      fields: ["letters", "digits"],
      draw: () => {
        const letters = Array.from({ length: 3 }, () => random.pick(Array.from("ABCDEFGHKLMNOPRSTU"))).join(
          "",
        );
        const digits = String(random.between(100, 999));
        return { text: `${letters}${random.pick(marks)[0]}${digits}`, values: [letters, digits] };
      },
      constraints: rules(
        random,
        [
          separator((name) => `The mark is ${name}.`, marks),
          () => ({
            says: "The letters stand in alphabetical order, each after the one before it.",
            holds: (one) => rising(Array.from(part(one, 0))),
          }),
          (draw) => {
            const vowel = draw.chance(0.5);
            return {
              says: `There is ${vowel ? "at least one vowel" : "no vowel"} among the letters; the vowels are A, E, I, O and U.`,
              holds: (one) => /[AEIOU]/.test(part(one, 0)) === vowel,
            };
          },
          digitSum(1, "the number"),
          parity(1, "The number"),
          divisible(1, "The number"),
          different(1, "No digit occurs twice."),
        ],
        4,
      ),
    })),
};

export const digitGroups: Scenario = {
  name: "digit-groups",
  draw: (random) =>
    puzzleDraft(random, () => ({
      intro: "A number is written in three groups of three digits with the same mark between them.",
      thing: "number",
      fields: ["first_group", "middle_group", "last_group"],
      draw: () => {
        const values = Array.from({ length: 3 }, () => String(random.between(100, 999)));
        return { text: values.join(random.pick(marks)[0]), values };
      },
      constraints: rules(
        random,
        [
          separator((name) => `The mark between the groups is ${name}.`, marks),
          (draw) => {
            const up = draw.chance(0.5);
            return {
              says: `The first group is ${up ? "smaller" : "greater"} than the last.`,
              holds: (one) => Number(part(one, 0)) < Number(part(one, 2)) === up,
            };
          },
          different(0, "No digit occurs twice in the first group."),
          digitSum(1, "the middle group"),
          parity(2, "The last group"),
          divisible(1, "The middle group"),
          (draw) => {
            const digit = String(draw.between(0, 9));
            return {
              says: `The digit ${digit} occurs in none of the groups.`,
              holds: ({ text }) => !text.includes(digit),
            };
          },
        ],
        4,
      ),
    })),
};
