/** Texts under several constraints at once: the checker draws texts until one keeps all and three break one each. */
import type { Random } from "../../random.js";
import type { Candidate, Draft } from "../../types.js";
import { numbered } from "../../words.js";

export interface Constraint {
  /** As it is told: a sentence. */
  says: string;
  holds(candidate: Candidate): boolean;
}

export interface Puzzle {
  /** What is looked for, with its article, and how it is built; a sentence. */
  intro: string;
  /** The same in one or two words. */
  thing: string;
  fields: readonly string[];
  /** Any text of the kind, whether it keeps the constraints or not. */
  draw: () => Candidate;
  constraints: readonly Constraint[];
}

/** Texts drawn for one set of constraints before another set is tried. */
const textsAtMost = 400;

/** Each wrong text breaks exactly one constraint, another one each time. */
export function puzzleDraft(random: Random, make: (random: Random) => Puzzle): Draft {
  for (;;) {
    const { intro, thing, fields, draw, constraints } = make(random);
    let right: Candidate | undefined;
    const wrong = new Map<Constraint, Candidate>();
    for (let n = 0; n < textsAtMost && (right === undefined || wrong.size < 3); n += 1) {
      const candidate = draw();
      const [broken, more] = constraints.filter((constraint) => !constraint.holds(candidate));
      if (broken === undefined) right ??= candidate;
      else if (more === undefined && !wrong.has(broken)) wrong.set(broken, candidate);
    }
    const [a, b, c] = random.shuffled([...wrong.values()]);
    if (right === undefined || a === undefined || b === undefined || c === undefined) continue;
    return {
      situation: `${intro} It must keep all of these rules:\n${numbered(constraints.map(({ says }) => says))}`,
      question: `Which ${thing} keeps all of the rules?`,
      fields,
      right,
      wrong: [a, b, c],
    };
  }
}

/** A rule with its numbers and letters still to be drawn. */
export type Rule = (random: Random) => Constraint;

/** Some of the rules, each with drawn parameters, in a drawn order. */
export function rules(random: Random, all: readonly Rule[], count: number): Constraint[] {
  return random.some(all, count).map((rule) => rule(random));
}

/** The part with this number. */
export function part(candidate: Candidate, at: number): string {
  return candidate.values[at] ?? "";
}

export function rising(list: readonly (string | number)[]): boolean {
  return list.every((item, at) => at === 0 || (list[at - 1] ?? item) < item);
}

/** A limit on the whole text, from either side. */
export function textLength(around: number): Rule {
  return (random) => {
    const limit = around + random.between(-2, 2);
    return random.chance(0.5)
      ? {
          says: `The whole has at most ${limit} characters, all of them counted.`,
          holds: ({ text }) => text.length <= limit,
        }
      : {
          says: `The whole has at least ${limit} characters, all of them counted.`,
          holds: ({ text }) => text.length >= limit,
        };
  };
}

/** A letter that may not occur, or must. */
export function letter(candidates: string): Rule {
  return (random) => {
    const drawn = random.pick(Array.from(candidates));
    const has = (text: string) => text.toLowerCase().includes(drawn);
    return random.chance(0.5)
      ? {
          says: `The letter ${drawn} occurs nowhere in it, small or capital.`,
          holds: ({ text }) => !has(text),
        }
      : {
          says: `The letter ${drawn} occurs somewhere in it, small or capital.`,
          holds: ({ text }) => has(text),
        };
  };
}

/** One of some marks between the parts; none of them occurs in a part. */
export function separator(
  says: (name: string) => string,
  marks: readonly (readonly [mark: string, name: string])[],
): Rule {
  return (random) => {
    const [mark, name] = random.pick(marks);
    const others = marks.map(([one]) => one).filter((one) => one !== mark);
    return {
      says: says(name),
      holds: ({ text }) => text.includes(mark) && others.every((other) => !text.includes(other)),
    };
  };
}
