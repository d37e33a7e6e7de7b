/** Times and settings under constraints. */
import type { Random } from "../../random.js";
import type { Scenario } from "../../types.js";
import { part, puzzleDraft, rising, type Rule, rules, separator, textLength } from "./puzzle.js";

const days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

const two = (value: number): string => String(value).padStart(2, "0");
const clock = (minutes: number): string => `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

/** A time of day, often on a quarter of an hour. */
const someTime = (random: Random, least: number, most: number): number =>
  random.chance(0.7) ? random.between(least / 15, most / 15) * 15 : random.between(least, most);

const quarter =
  (at: number, says: string): Rule =>
  () => ({
    says: `${says} on a full hour or a quarter of it: the minutes are 00, 15, 30 or 45.`,
    holds: (one) => minutesOf(part(one, at)) % 15 === 0,
  });

const bookingMarks = [
  [",", "commas"],
  [";", "semicolons"],
  [" -", "hyphens"],
] as const;

export const bookings: Scenario = {
  name: "bookings",
  draw: (random) =>
    puzzleDraft(random, () => ({
      intro:
        "A booking names a day of a week that begins on Monday, a time on the 24-hour clock and the number of a room.",
      thing: "booking",
      fields: ["day", "time", "room"],
      draw: () => {
        const values = [random.pick(days), clock(someTime(random, 480, 1200)), String(random.between(1, 60))];
        return { text: values.join(`${random.pick(bookingMarks)[0]} `), values };
      },
      constraints: rules(
        random,
        [
          separator((name) => `Its three parts are parted by ${name}.`, bookingMarks),
          (draw) => {
            const day = draw.between(1, 5);
            const after = draw.chance(0.5);
            return {
              says: `Its day is ${after ? "later" : "earlier"} in the week than ${days[day] ?? ""}.`,
              holds: (one) => {
                const own = days.indexOf(part(one, 0));
                return after ? own > day : own < day;
              },
            };
          },
          (draw) => {
            const limit = draw.between(11, 16) * 60 + draw.pick([0, 15, 30]);
            const before = draw.chance(0.5);
            return {
              says: `It is ${before ? "before" : "after"} ${clock(limit)}.`,
              holds: (one) => {
                const own = minutesOf(part(one, 1));
                return before ? own < limit : own > limit;
              },
            };
          },
          quarter(1, "Its time is"),
          (draw) => {
            const even = draw.chance(0.5);
            return {
              says: `The number of its room is ${even ? "even" : "odd"}.`,
              holds: (one) => (Number(part(one, 2)) % 2 === 0) === even,
            };
          },
          (draw) => {
            const low = draw.between(5, 30);
            const high = low + draw.between(15, 25);
            return {
              says: `The number of its room is from ${low} to ${high}, both included.`,
              holds: (one) => Number(part(one, 2)) >= low && Number(part(one, 2)) <= high,
            };
          },
          textLength(18),
        ],
        4,
      ),
    })),
};

const spanMarks = [
  ["-", "a hyphen"],
  ["/", "a slash"],
  [" to ", "the word to between two spaces"],
] as const;

export const timeSpans: Scenario = {
  name: "time-spans",
  draw: (random) =>
    puzzleDraft(random, () => ({
      intro: "A span is written as its start and its end on the same day, both on the 24-hour clock.",
      thing: "span",
      fields: ["start", "end"],
      draw: () => {
        const start = someTime(random, 480, 1080);
        const end = start + someTime(random, 30, 240);
        const values = [clock(start), clock(end)];
        return { text: values.join(random.pick(spanMarks)[0]), values };
      },
      constraints: rules(
        random,
        [
          separator((name) => `Between the two times stands ${name}.`, spanMarks),
          (draw) => {
            const limit = draw.between(4, 12) * 15;
            const least = draw.chance(0.5);
            return {
              says: `It lasts ${least ? "at least" : "at most"} ${limit} minutes.`,
              holds: (one) => {
                const own = minutesOf(part(one, 1)) - minutesOf(part(one, 0));
                return least ? own >= limit : own <= limit;
              },
            };
          },
          quarter(0, "It starts"),
          quarter(1, "It ends"),
          (draw) => {
            const limit = draw.between(10, 14) * 60 + draw.pick([0, 20, 40]);
            return {
              says: `It does not start before ${clock(limit)}.`,
              holds: (one) => minutesOf(part(one, 0)) >= limit,
            };
          },
          (draw) => {
            const limit = draw.between(15, 19) * 60 + draw.pick([0, 20, 40]);
            return {
              says: `It ends before ${clock(limit)}.`,
              holds: (one) => minutesOf(part(one, 1)) < limit,
            };
          },
        ],
        4,
      ),
    })),
};

const lineMarks = [
  [";", "semicolons"],
  [",", "commas"],
  ["&", "ampersands"],
] as const;
const signs = [
  ["=", "an equals sign"],
  [":", "a colon"],
] as const;
const keys = ["depth", "limit", "width"] as const;

export const settingLines: Scenario = {
  name: "setting-lines",
  draw: (random) =>
    puzzleDraft(random, () => ({
      intro:
        "A line holds three settings, depth, limit and width, in any order and without spaces; each is its name, a sign and a whole number.",
      thing: "line",
      fields: keys,
      draw: () => {
        const values = keys.map(() => String(random.between(2, 99)));
        const sign = random.pick(signs)[0];
        const settings = keys.map((key, at) => `${key}${sign}${values[at] ?? ""}`);
        return { text: random.shuffled(settings).join(random.pick(lineMarks)[0]), values };
      },
      constraints: rules(
        random,
        [
          separator((name) => `The settings are joined by ${name}.`, lineMarks),
          separator((name) => `Between a name and its number stands ${name}.`, signs),
          (draw) => {
            const up = draw.chance(0.5);
            return {
              says: `The names stand in ${up ? "alphabetical order" : "reverse alphabetical order"}.`,
              holds: ({ text }) => {
                const places = keys.map((key) => text.indexOf(key));
                return rising(up ? places : places.toReversed());
              },
            };
          },
          (draw) => {
            const [one, other] = draw.some([0, 1, 2], 2) as [number, number];
            return {
              says: `The number of ${keys[one] ?? ""} is greater than that of ${keys[other] ?? ""}.`,
              holds: (line) => Number(part(line, one)) > Number(part(line, other)),
            };
          },
          (draw) => {
            const at = draw.below(3);
            const by = draw.pick([3, 4, 5]);
            return {
              says: `The number of ${keys[at] ?? ""} is a multiple of ${by}.`,
              holds: (line) => Number(part(line, at)) % by === 0,
            };
          },
          (draw) => {
            const limit = draw.between(110, 180);
            const least = draw.chance(0.5);
            return {
              says: `The three numbers add up to ${least ? "at least" : "at most"} ${limit}.`,
              holds: ({ values }) => {
                const total = values.reduce((all, value) => all + Number(value), 0);
                return least ? total >= limit : total <= limit;
              },
            };
          },
        ],
        4,
      ),
    })),
};
