/** What common commands of a POSIX shell print. */
import { crossed } from "../../crossed.js";
import type { Candidate, Scenario } from "../../types.js";
import { plainWords } from "../../words.js";

const block = (lines: readonly string[]): string => lines.map((line) => `  ${line}`).join("\n");

/** Without `g` only the first occurrence of a line is replaced; an address picks the lines. */
export const sedAddress: Scenario = {
  name: "sed-address",
  draw(random) {
    const [from = "", to = "", left = "", right = ""] = random.some(plainWords, 4);
    const lines = [left, right].map((word) => random.shuffled([word, from, from]).join(" "));
    const address = random.pick([
      "1",
      "2",
      `/${left}/`,
      `/${right}/`,
      `/${left}/!`,
      `/${right}/!`,
      "1!",
      "2!",
    ]);
    const everywhere = random.chance(0.5);
    const named = address.includes("1") || address.includes(left) ? 0 : 1;
    const addressed = address.endsWith("!") ? 1 - named : named;
    const all = (line: string) => line.replaceAll(from, to);
    const first = (line: string) => line.replace(from, to);
    const [apply, slip] = everywhere ? [all, first] : [first, all];
    // What each line becomes, and what a slip in it makes of it: too many or few replaced, the other line addressed.
    const becomes = lines.map((line, at): [string, string] => {
      if (at === addressed) return [apply(line), random.chance(0.5) ? slip(line) : line];
      return [line, random.chance(0.5) ? apply(line) : slip(line)];
    });
    const [one = ["", ""], two = ["", ""]] = becomes;
    const option = (a: string, b: string): Candidate => ({ text: `${a}; then ${b}`, values: [a, b] });
    return {
      situation: `The file list.txt has two lines:\n${block(lines)}\nThis command is run:\n  sed '${address}s/${from}/${to}/${everywhere ? "g" : ""}' list.txt`,
      question: "Which two lines does it print?",
      fields: ["first_line", "second_line"],
      ...crossed(option, one, two),
    };
  },
};

/** `sort` compares texts, `sort -n` numbers. */
export const sortOrder: Scenario = {
  name: "sort-order",
  draw(random) {
    const numbers = [
      random.between(2, 9),
      random.between(10, 99),
      random.between(10, 99),
      random.between(100, 999),
      random.between(1000, 1999),
    ];
    const numeric = random.chance(0.5);
    const down = random.chance(0.5);
    const text = numbers.map(String);
    const ends = (asNumbers: boolean, falling: boolean): [string, string] => {
      const sorted = asNumbers
        ? text.toSorted((a, b) => Number(a) - Number(b))
        : text.toSorted((a, b) => (a < b ? -1 : 1));
      const pair: [string, string] = [sorted[0] ?? "", sorted.at(-1) ?? ""];
      return falling ? [pair[1], pair[0]] : pair;
    };
    const option = (asNumbers: boolean, falling: boolean): Candidate => {
      const [first, last] = ends(asNumbers, falling);
      return { text: `first ${first}, last ${last}`, values: [first, last] };
    };
    const flags = `${numeric ? "n" : ""}${down ? "r" : ""}`;
    return {
      situation: `The file sizes.txt has these lines, without any spaces:\n${block(random.shuffled(text))}\nThis command is run, with LC_ALL=C in its environment:\n  sort ${flags === "" ? "" : `-${flags} `}sizes.txt`,
      question: "What are the first and the last line that it prints?",
      fields: ["first", "last"],
      ...crossed(option, [numeric, !numeric], [down, !down]),
    };
  },
};

/** `-lt` compares numbers, `<` within double brackets texts. */
export const comparisons: Scenario = {
  name: "comparisons",
  draw(random) {
    const words = random.some(plainWords, 4);
    const small = () => random.between(2, 99);
    const line = (yes: string, no: string): { code: string; holds: boolean; yes: string; no: string } => {
      const [a, b] = random.chance(0.5)
        ? [random.between(2, 9), random.between(10, 99)]
        : [small(), random.between(100, 990)];
      const [x, y] = random.chance(0.5) ? [a, b] : [b, a];
      const asNumbers = random.chance(0.5);
      const less = random.chance(0.5);
      const [low, high] = less ? [x, y] : [y, x];
      const test = asNumbers ? `${x} ${less ? "-lt" : "-gt"} ${y}` : `${x} ${less ? "<" : ">"} ${y}`;
      const code = asNumbers ? `[ ${test} ]` : `[[ ${test} ]]`;
      const holds = asNumbers ? low < high : String(low) < String(high);
      return { code: `${code} && echo ${yes} || echo ${no}`, holds, yes, no };
    };
    const [p = "", q = "", r = "", s = ""] = words;
    const lines = [line(p, q), line(r, s)];
    const printed = lines.map(({ holds, yes, no }): [string, string] => (holds ? [yes, no] : [no, yes]));
    const [one = ["", ""], two = ["", ""]] = printed;
    const option = (a: string, b: string): Candidate => ({ text: `${a}, then ${b}`, values: [a, b] });
    return {
      situation: `A bash with LC_ALL=C runs these two lines. In single brackets -lt and -gt compare whole numbers; in double brackets < and > compare texts, character by character.\n${block(lines.map(({ code }) => code))}`,
      question: "Which two words are printed?",
      fields: ["first", "second"],
      ...crossed(option, one, two),
    };
  },
};

/** `uniq` drops only a line that follows its equal. */
export const uniqueLines: Scenario = {
  name: "unique-lines",
  draw(random) {
    const [a = "", b = "", c = ""] = random.some(plainWords, 3);
    const lines: string[] = random.shuffled([a, a, a, b, b, c]);
    const lone = lines.filter((line, at) => line !== lines[at - 1]);
    const sorted = [...new Set(lines)].sort();
    const results = { uniq: lone, "sort -u": sorted, sort: lines.toSorted() };
    const command = random.pick(["uniq", "sort -u", "sort"] as const);
    const result = results[command];
    const others = Object.values(results).filter(({ length }) => length !== result.length);
    const end = random.chance(0.5) ? "first" : "last";
    const at = end === "first" ? 0 : -1;
    const right = result.at(at) ?? "";
    const slip = command === "uniq" ? (sorted.at(at) ?? "") : (lines.at(at) ?? "");
    const count = result.length;
    const other = (others.length === 0 ? [] : random.pick(others)).length;
    const option = (lineCount: number, word: string): Candidate => ({
      text: `${lineCount} lines, the ${end} is ${word}`,
      values: [String(lineCount), word],
    });
    return {
      situation: `The file names.txt has six lines:\n${block(lines)}\nThis command is run, with LC_ALL=C in its environment:\n  ${command} names.txt`,
      question: `How many lines does it print, and which is the ${end}?`,
      fields: ["count", `${end}_line`],
      ...crossed(option, [count, other], [right, slip]),
    };
  },
};

/** In a glob `?` is exactly one character, `*` any number of them, none too. */
export const globs: Scenario = {
  name: "globs",
  draw(random) {
    const [stem = "", other = ""] = random.some(plainWords, 2);
    const digit = () => String(random.between(1, 9));
    const near = (base: string) => [
      `${base}.txt`,
      `${base}${digit()}.txt`,
      `${base}${digit()}${digit()}.txt`,
      `${base}-${digit()}.txt`,
      `${base}.${digit()}.txt`,
      `${base}${digit()}.txt.${digit()}`,
      `${digit()}${base}.txt`,
      `${base}s.txt`,
    ];
    const pattern = random.pick([
      "?.txt",
      "*.txt",
      "??.txt",
      "[0-9]*.txt",
      "[0-9].txt",
      "[!0-9]*.txt",
      "-*.txt",
      "?*.txt",
      "*.txt.?",
      "[!.]?.txt",
      ".?.txt",
    ]);
    const expression = new RegExp(
      `^(?:${stem}|${other})${pattern.replace(/\./g, "\\.").replaceAll("[!", "[^").replaceAll("[^\\.", "[^.").replace(/\?/g, ".").replace(/\*/g, ".*")}$`,
    );
    const names = (base: string): [string, string] => {
      const all = random.shuffled(near(base));
      return [
        all.find((name) => expression.test(name)) ?? "",
        all.find((name) => !expression.test(name)) ?? "",
      ];
    };
    const [one, two] = [names(stem), names(other)];
    const option = (a: string, b: string): Candidate => ({ text: `${a} and ${b}`, values: [a, b] });
    const [c, d] = random.chance(0.5) ? one : one.toReversed();
    const [e, f] = random.chance(0.5) ? two : two.toReversed();
    return {
      situation: `A folder holds exactly these four files: ${[c, d, e, f].join(", ")}. In the patterns of its shell ? stands for exactly one character, * for any number of characters including none, [0-9] for one digit, and [!...] for one character that is not among those named.`,
      question: `Which file does the pattern ${stem}${pattern} match, and which ${other}${pattern}?`,
      fields: ["first_match", "second_match"],
      ...crossed(option, one, two),
    };
  },
};
