/** Versions and colours under constraints: numbers in a notation of their own. */
import type { Scenario } from "../../types.js";
import { different, parity, sum } from "./digits.js";
import { part, puzzleDraft, rules, separator } from "./puzzle.js";

const compare = (a: readonly number[], b: readonly number[]): number =>
  a.map((one, at) => one - (b[at] ?? 0)).find((difference) => difference !== 0) ?? 0;

/** Versions compare number by number, not as texts. */
export const versions: Scenario = {
  name: "versions",
  draw: (random) =>
    puzzleDraft(random, () => {
      const bound = [random.between(2, 4), random.between(8, 11), random.between(0, 9)];
      const later = random.chance(0.5);
      return {
        intro:
          "A version has three whole numbers with full stops between them, major, minor and patch; versions are compared number by number, from the left.",
        thing: "version",
        fields: ["major", "minor", "patch"],
        draw: () => {
          const values = [random.between(1, 5), random.between(0, 14), random.between(0, 12)].map(String);
          return { text: `${random.pick(["v", ""])}${values.join(".")}`, values };
        },
        constraints: [
          {
            says: `It is ${later ? "later" : "earlier"} than ${bound.join(".")}.`,
            holds: ({ values }) => {
              const order = compare(values.map(Number), bound);
              return later ? order > 0 : order < 0;
            },
          },
          ...rules(
            random,
            [
              (draw) => {
                const has = draw.chance(0.5);
                return {
                  says: `It is written ${has ? "with" : "without"} a v in front.`,
                  holds: ({ text }) => text.startsWith("v") === has,
                };
              },
              parity(1, "The minor number"),
              parity(2, "The patch number"),
              () => ({
                says: "The patch number is smaller than the minor number.",
                holds: (one) => Number(part(one, 2)) < Number(part(one, 1)),
              }),
              (draw) => {
                const limit = draw.between(13, 18);
                return {
                  says: `The three numbers add up to at most ${limit}.`,
                  holds: ({ values }) => sum(values.map(Number)) <= limit,
                };
              },
            ],
            3,
          ),
        ],
      };
    }),
};

const hex = (value: number): string => value.toString(16).padStart(2, "0");
const strength = (text: string): number => Number.parseInt(text, 16);

export const colours: Scenario = {
  name: "colours",
  draw: (random) =>
    puzzleDraft(random, () => ({
      intro:
        "A colour is written as three hexadecimal numbers of two digits each, for red, green and blue, without anything between them.",
      thing: "colour",
      fields: ["red", "green", "blue"],
      draw: () => {
        const capital = random.chance(0.5);
        const values = Array.from({ length: 3 }, () => hex(random.between(0, 255))).map((one) =>
          capital ? one.toUpperCase() : one,
        );
        return { text: `${random.pick(["#", "0x"])}${values.join("")}`, values };
      },
      constraints: rules(
        random,
        [
          separator(
            (name) => `It begins with ${name}.`,
            [
              ["#", "a number sign"],
              ["0x", "a zero and a small x"],
            ],
          ),
          (draw) => {
            const capital = draw.chance(0.5);
            return {
              says: `It has at least one of the digits A to F, and ${capital ? "all of these are capitals" : "all of these are small"}.`,
              holds: ({ values }) =>
                (capital ? /^[^a-f]*[A-F][^a-f]*$/ : /^[^A-F]*[a-f][^A-F]*$/).test(values.join("")),
            };
          },
          (draw) => {
            const [one, other] = draw.some([0, 1, 2], 2) as [number, number];
            const names = ["red", "green", "blue"];
            return {
              says: `There is more ${names[one] ?? ""} than ${names[other] ?? ""} in it.`,
              holds: (colour) => strength(part(colour, one)) > strength(part(colour, other)),
            };
          },
          (draw) => {
            const limit = draw.between(6, 11) * 16;
            return {
              says: `Its green is below ${hex(limit)}, which is ${limit} in decimal.`,
              holds: (one) => strength(part(one, 1)) < limit,
            };
          },
          (draw) => {
            const even = draw.chance(0.5);
            return {
              says: `Its blue is an ${even ? "even" : "odd"} number.`,
              holds: (one) => (strength(part(one, 2)) % 2 === 0) === even,
            };
          },
          different(0, "The two digits of its red are not the same."),
        ],
        4,
      ),
    })),
};
