/** Paths and file names under constraints. */
import type { Scenario } from "../../types.js";
import { plainWords } from "../../words.js";
import { divisible } from "./digits.js";
import { labelWords } from "./label-words.js";
import { letter, part, puzzleDraft, rules, separator, textLength } from "./puzzle.js";

const joints = [
  ["-", "a hyphen"],
  ["_", "an underscore"],
] as const;

/** Two folders and a file. */
export const paths: Scenario = {
  name: "paths",
  draw: (random) =>
    puzzleDraft(random, () => {
      const extensions = random.shuffled(["txt", "csv", "pdf", "log"]);
      const allowed = extensions.slice(0, 2);
      const rest = extensions.slice(2);
      return {
        intro:
          "A path leads through two folders to a file, and its file's name has two words before the extension.",
        thing: "path",
        fields: ["folder", "subfolder", "file"],
        draw: () => {
          const [a = "", b = "", c = "", d = ""] = random.some(labelWords, 4);
          const file = `${c}${random.pick(joints)[0]}${d}.${random.pick(extensions)}`;
          const root = random.chance(0.7) ? "/" : "";
          return { text: `${root}${a}/${b}/${file}`, values: [a, b, file] };
        },
        constraints: rules(
          random,
          [
            separator((name) => `The two words of the file's name are joined by ${name}.`, joints),
            () => ({
              says: `The extension is ${allowed.join(" or ")}, and neither ${rest.join(" nor ")}.`,
              holds: (one) => allowed.some((extension) => part(one, 2).endsWith(`.${extension}`)),
            }),
            () => ({ says: "It begins with a slash.", holds: ({ text }) => text.startsWith("/") }),
            (draw) => {
              const up = draw.chance(0.5);
              return {
                says: `The outer folder comes ${up ? "before" : "after"} the inner one in the alphabet.`,
                holds: (one) => part(one, 0) < part(one, 1) === up,
              };
            },
            (draw) => {
              const limit = draw.between(4, 5);
              return {
                says: `No folder's name has more than ${limit} letters.`,
                holds: (one) => part(one, 0).length <= limit && part(one, 1).length <= limit,
              };
            },
            textLength(27),
          ],
          4,
        ),
      };
    }),
};

export const fileNames: Scenario = {
  name: "file-names",
  draw: (random) =>
    puzzleDraft(random, () => {
      const extensions = random.shuffled(["txt", "csv", "pdf", "log", "tar", "png"]);
      return {
        intro: "A file name is made of a word, one mark, a number, a full stop and an extension.",
        thing: "file name",
        fields: ["word", "number", "extension"],
        draw: () => {
          const values = [
            random.pick(plainWords),
            String(random.between(1, 999)).padStart(random.pick([2, 3]), "0"),
            random.pick(extensions),
          ];
          return { text: `${values[0]}${random.pick(joints)[0]}${values[1]}.${values[2]}`, values };
        },
        constraints: rules(
          random,
          [
            separator((name) => `The mark is ${name}.`, joints),
            () => ({
              says: `The extension is ${extensions.slice(0, 3).join(" or ")}, and not ${extensions.slice(3).join(" or ")}.`,
              holds: (one) => extensions.slice(0, 3).includes(part(one, 2)),
            }),
            divisible(1, "The number, leading zeros left aside,"),
            (draw) => {
              const count = draw.pick([2, 3]);
              return {
                says: `The number is written with ${count} digits, leading zeros counted.`,
                holds: (one) => part(one, 1).length === count,
              };
            },
            (draw) => {
              const count = draw.pick([5, 6]);
              return {
                says: `The word has ${count} letters.`,
                holds: (one) => part(one, 0).length === count,
              };
            },
            textLength(13),
            letter("aeorl"),
          ],
          4,
        ),
      };
    }),
};
