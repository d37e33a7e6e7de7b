/** Dates: strict formats, stated zones, stated reference times. */
import { DateTime } from "luxon";
import { show } from "../../evidence.js";
import { ContentFault, type Judgement } from "../../value.js";
import { Demands } from "../ground.js";
import { type DateAssertion, isoDate, type RelativeDate, weekdays } from "./schema.js";

/** A moment whose sources have been read: an ISO text, or one counted from it. */
export type GroundMoment = string | (Omit<RelativeDate, "reference"> & { reference: string });
export type GroundDate = Omit<DateAssertion, "equals" | "after" | "before"> & {
  equals?: GroundMoment;
  after?: GroundMoment;
  before?: GroundMoment;
};

/** How an ISO date begins that says all of a precision: calendar, week or ordinal date, with a time where one is compared. */
const DAY = /^[+-]?\d{4,6}-?(?:\d{2}-?\d{2}|W\d{2}-?\d|\d{3})(?:T|$)/i;
const WHOLE: Record<DateAssertion["precision"], RegExp> = {
  year: /^[+-]?\d{4}/,
  month: /^[+-]?\d{4,6}-?(?:\d{2}|W\d{2}|\d{3})/i,
  day: DAY,
  hour: /^\S+T\d{2}/i,
  minute: /^\S+T\d{2}:?\d{2}/i,
  second: /^\S+T\d{2}:?\d{2}:?\d{2}/i,
};
/** No date that people write is longer. */
const TEXT_LIMIT = 200;
const DAYS_OF_WEEK = 7;

/** Judges a text as a date. Throws `ContentFault` where it is in none of the formats. */
export function judgeDate(assertion: GroundDate, text: string): Judgement {
  const seen = parseDate(text, assertion);
  const { precision, zone, tolerance_seconds: tolerance } = assertion;
  const floor = (moment: DateTime): DateTime => moment.setZone(zone).startOf(precision);
  const demands = new Demands();
  const told = `saw ${seen.toISO() ?? text}`;
  const at = (moment: GroundMoment): DateTime => floor(momentOf(moment, zone));
  if (assertion.equals !== undefined) {
    const wanted = at(assertion.equals);
    const apart = Math.abs(floor(seen).toMillis() - wanted.toMillis());
    demands.add(apart <= tolerance * 1_000, `is ${wanted.toISO() ?? ""} by ${precision}: ${told}`);
  }
  if (assertion.after !== undefined) {
    const bound = at(assertion.after);
    demands.add(floor(seen) > bound, `after ${bound.toISO() ?? ""} by ${precision}: ${told}`);
  }
  if (assertion.before !== undefined) {
    const bound = at(assertion.before);
    demands.add(floor(seen) < bound, `before ${bound.toISO() ?? ""} by ${precision}: ${told}`);
  }
  return demands.judge();
}

/** Reads a date in the first format that it has. Throws `ContentFault`. */
export function parseDate(
  text: string,
  options: Pick<DateAssertion, "formats" | "locale" | "zone" | "precision">,
): DateTime {
  const trimmed = text.length > TEXT_LIMIT ? "" : text.trim();
  const { zone, locale } = options;
  for (const format of options.formats) {
    if (format === "iso" && !WHOLE[options.precision].test(trimmed)) continue;
    const found =
      format === "iso"
        ? DateTime.fromISO(trimmed, { zone })
        : DateTime.fromFormat(trimmed, format, { zone, locale });
    if (found.isValid) return found;
  }
  throw new ContentFault(`${show(text)} is no date in the form ${options.formats.join(" or ")}`);
}

/** The moment that an expected value stands for. Throws `ContentFault` where what was read is no ISO date. */
export function momentOf(moment: GroundMoment, zone: string): DateTime {
  if (typeof moment === "string") return isoMoment(moment, zone);
  const { reference, weekday, ...shift } = moment;
  const moved = isoMoment(reference, zone).plus(shift);
  if (weekday === undefined) return moved;
  const wanted = weekdays.indexOf(weekday.day) + 1;
  if (weekday.nth === -1) {
    const last = moved.endOf("month").startOf("day");
    return last.minus({ days: (last.weekday - wanted + DAYS_OF_WEEK) % DAYS_OF_WEEK });
  }
  const first = moved.startOf("month");
  const day = first.plus({
    days: ((wanted - first.weekday + DAYS_OF_WEEK) % DAYS_OF_WEEK) + DAYS_OF_WEEK * (weekday.nth - 1),
  });
  if (day.month !== moved.month)
    throw new ContentFault(`${moved.toFormat("yyyy-LL")} has no ${weekday.nth}th ${weekday.day}`);
  return day;
}

function isoMoment(text: string, zone: string): DateTime {
  const trimmed = text.trim();
  if (!isoDate.safeParse(trimmed).success) throw new ContentFault(`${show(text)} is no ISO 8601 date`);
  return DateTime.fromISO(trimmed, { zone });
}
