/** Values that a mapping turns into others: dates, units, ranges, names. */
import { crossed } from "../../crossed.js";
import type { Candidate, Scenario } from "../../types.js";
import { people, plainWords } from "../../words.js";
import { record } from "./record.js";

const two = (value: number): string => String(value).padStart(2, "0");

/** Which number is the day is stated; noon and midnight are the hours that the twelve-hour clock calls 12. */
export const dates: Scenario = {
  name: "dates",
  draw(random) {
    const [day, month] = [random.between(1, 12), random.between(1, 12)];
    const year = random.between(2031, 2049);
    const dayFirst = random.chance(0.5);
    const source = (dayFirst ? [day, month] : [month, day]).map(two).join("/");
    const hour = random.chance(0.4) ? random.pick([0, 12]) : random.between(0, 23);
    const minute = two(random.between(0, 59));
    const clock = `${hour % 12 === 0 ? 12 : hour % 12}:${minute} ${hour < 12 ? "am" : "pm"}`;
    const iso = (d: number, m: number) => `${year}-${two(m)}-${two(d)}`;
    const time = (h: number) => `${two(h)}:${minute}`;
    return {
      situation: `A schema wants date as YYYY-MM-DD and time on the 24-hour clock as HH:MM, where midnight is 00:00. The source writes the ${dayFirst ? "day before the month" : "month before the day"}, and its time on the 12-hour clock, where 12:00 am is midnight and 12:00 pm is noon: ${source}/${year}, ${clock}.`,
      question: "Which record has what the schema wants?",
      fields: ["date", "time"],
      ...crossed(
        record(["date", "time"]),
        [iso(day, month), iso(month, day)],
        [time(hour), time((hour + 12) % 24)],
      ),
    };
  },
};

/** Smaller units, bigger numbers. */
export const units: Scenario = {
  name: "units",
  draw(random) {
    const factors = [
      ["price", "euros", "cents", 100],
      ["weight", "kilograms", "grams", 1000],
      ["length", "metres", "centimetres", 100],
      ["width", "centimetres", "millimetres", 10],
      ["duration", "minutes", "seconds", 60],
      ["warranty", "years", "months", 12],
      ["volume", "litres", "millilitres", 1000],
    ] as const;
    const [one, other] = random.some(factors, 2);
    if (one === undefined || other === undefined) throw new RangeError("no units");
    const part = ([name, from, to, factor]: (typeof factors)[number]) => {
      const amount =
        random.between(2, 40) + (factor === 60 || factor === 12 ? 0 : random.pick([0, 0.5, 0.2]));
      const right = Math.round(amount * factor);
      const slip = random.chance(0.65)
        ? Math.round(amount * (factor === 10 ? 100 : factor === 1000 ? 100 : factor === 100 ? 1000 : 100))
        : Math.round(amount * (factor === 10 ? 1 : factor / 10));
      const field = `${name}_${to}`;
      return { says: `${name}: ${amount} ${from}`, field, right: String(right), slip: String(slip) };
    };
    const [a, b] = [part(one), part(other)];
    const item = random.pick(["shelf", "lamp", "kettle", "desk", "clock", "heater", "radio", "fan"]);
    const fields = [a.field, b.field];
    return {
      situation: `A catalogue describes a ${item} like this: ${a.says}, ${b.says}. A schema wants whole numbers under the keys ${a.field} and ${b.field}, each in the unit that its key names.`,
      question: `Which record describes the ${item} as the schema wants it?`,
      fields,
      ...crossed(record(fields), [a.right, a.slip], [b.right, b.slip]),
    };
  },
};

/** A boundary belongs to the range that says so. */
export const ranges: Scenario = {
  name: "ranges",
  draw(random) {
    const makeRange = (name: string, labels: readonly [string, string, string]) => {
      const low = random.between(2, 40) * 10;
      const high = low + random.between(2, 40) * 10;
      const upTo = random.chance(0.5);
      const value = random.pick([
        low,
        high,
        low,
        high,
        low - random.between(1, 9),
        high + random.between(1, 9),
      ]);
      const place = (inclusive: boolean) => {
        const above = (bound: number) => (inclusive ? value > bound : value >= bound);
        return above(high) ? 2 : above(low) ? 1 : 0;
      };
      const right = place(upTo);
      const slip = value === low || value === high ? place(!upTo) : 1;
      const says = upTo
        ? `${labels[0]} up to and including ${low}, ${labels[1]} above that up to and including ${high}, ${labels[2]} above that`
        : `${labels[0]} below ${low}, ${labels[1]} from ${low} on and below ${high}, ${labels[2]} from ${high} on`;
      return { rule: `${name}: ${says}`, value, right: labels[right], slip: labels[slip] };
    };
    const size = makeRange("size", ["minor", "usual", "major"]);
    const level = makeRange(
      "level",
      random.pick([
        ["low", "mid", "top"],
        ["calm", "busy", "full"],
        ["slow", "even", "fast"],
      ] as const),
    );
    return {
      situation: `A record has two keys; size follows from the megabytes, level from the requests.\n  ${size.rule}\n  ${level.rule}\nThe source says: ${size.value} megabytes, ${level.value} requests.`,
      question: "Which record is made from this source?",
      fields: ["size", "level"],
      ...crossed(record(["size", "level"]), [size.right, size.slip], [level.right, level.slip]),
    };
  },
};

/** Codes are texts and keep their zeros, amounts are numbers and do not. */
export const keptZeros: Scenario = {
  name: "kept-zeros",
  draw(random) {
    const names = random.some(["code", "branch", "amount", "floor", "account", "units", "room", "batch"], 2);
    const part = (name: string) => {
      const digits = String(random.between(1, 999));
      const padded = digits.padStart(digits.length + random.between(1, 3), "0");
      const asText = random.chance(0.5);
      return {
        name,
        padded,
        says: asText
          ? `${name} is a text and keeps every character of the source`
          : `${name} is a number, written as JSON has numbers`,
        right: asText ? padded : digits,
        slip: asText ? digits : padded,
      };
    };
    const [a, b] = names.map(part);
    if (a === undefined || b === undefined) throw new RangeError("no parts");
    const fields = [a.name, b.name];
    const show = record(fields);
    return {
      situation: `A line of a form reads: ${a.name} ${a.padded}, ${b.name} ${b.padded}. In the output ${a.says}; ${b.says}. The options leave quotation marks out.`,
      question: "Which record is the output?",
      fields,
      ...crossed(show, [a.right, a.slip], [b.right, b.slip]),
    };
  },
};

const families = [
  "Adler",
  "Brandt",
  "Costa",
  "Duran",
  "Engel",
  "Falk",
  "Greco",
  "Holm",
  "Ivens",
  "Kruse",
  "Lund",
  "Moreau",
  "Novak",
  "Olsen",
  "Petrov",
  "Rossi",
] as const;

/** A rule makes user names of names, another one addresses. */
export const userNames: Scenario = {
  name: "user-names",
  draw(random) {
    const [given = ""] = random.some(people, 1);
    const family = random.pick(families);
    const [host = ""] = random.some(plainWords, 1);
    const [g, f] = [given.toLowerCase(), family.toLowerCase()];
    const initial = (name: string) => name.slice(0, 1);
    const rules = [
      ["the first letter of the given name and the whole family name", initial(g) + f],
      ["the first letter of the family name and the whole given name", initial(f) + g],
      ["the whole given name and the first letter of the family name", g + initial(f)],
      ["the whole family name and the first letter of the given name", f + initial(g)],
    ] as const;
    const joins = [
      ["the given name, a full stop and the family name", `${g}.${f}`],
      ["the family name, a full stop and the given name", `${f}.${g}`],
    ] as const;
    const [rule, slip] = random.some(rules, 2);
    const [join, otherJoin] = random.shuffled(joins);
    if (rule === undefined || slip === undefined || join === undefined || otherJoin === undefined)
      throw new RangeError("no rules");
    const option = (user: string, mail: string): Candidate =>
      record(["user", "mail"])(user, `${mail}@${host}.example`);
    return {
      situation: `A staff list writes the family name before the comma and the given name after it. One entry reads: ${family}, ${given}. In the accounts all letters are small. The user is ${rule[0]}, joined without anything between. The mail is ${join[0]}, then @${host}.example.`,
      question: "Which account belongs to the entry?",
      fields: ["user", "mail"],
      ...crossed(option, [rule[1], slip[1]], [join[1], otherJoin[1]]),
    };
  },
};
