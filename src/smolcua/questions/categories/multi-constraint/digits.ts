/** Rules for the digits of one part. */
import { part, type Rule } from "./puzzle.js";

const digitsOf = (text: string): number[] => (text.match(/\d/g) ?? []).map(Number);
export const sum = (list: readonly number[]): number => list.reduce((total, one) => total + one, 0);
const allDifferent = (text: string): boolean => new Set(text).size === text.length;

export const digitSum =
  (at: number, says: string): Rule =>
  (random) => {
    const limit = random.between(11, 16);
    const least = random.chance(0.5);
    return {
      says: `The digits of ${says} add up to ${least ? "at least" : "at most"} ${limit}.`,
      holds: (one) => {
        const total = sum(digitsOf(part(one, at)));
        return least ? total >= limit : total <= limit;
      },
    };
  };

export const parity =
  (at: number, says: string): Rule =>
  (random) => {
    const even = random.chance(0.5);
    return {
      says: `${says} is ${even ? "even" : "odd"}.`,
      holds: (one) => (Number(part(one, at)) % 2 === 0) === even,
    };
  };

export const divisible =
  (at: number, says: string): Rule =>
  (random) => {
    const by = random.pick([3, 4, 5, 6, 7]);
    return { says: `${says} is a multiple of ${by}.`, holds: (one) => Number(part(one, at)) % by === 0 };
  };

export const different =
  (at: number, says: string): Rule =>
  () => ({ says, holds: (one) => allDifferent(part(one, at)) });
