/** A date or a time, written in text. Relative dates name the time that they count from: nothing here asks what day it is. */
import { DateTime, IANAZone } from "luxon";
import { z } from "zod";
import { assetReference, atLeastOne, otherQuery } from "../expected-schema.js";

const zone = z
  .string()
  .refine((name) => name === "UTC" || IANAZone.isValidZone(name), "must be UTC or a zone like Europe/Berlin");
/** One that is not known would be read as the host's own. */
function isKnownLocale(name: string): boolean {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(name).length > 0;
  } catch {
    return false;
  }
}

/** An ISO 8601 date or time. */
export const isoDate = z
  .string()
  .max(40)
  .refine((text) => DateTime.fromISO(text, { zone: "UTC" }).isValid, "must be an ISO 8601 date or time");

const amount = z.int().min(-100_000).max(100_000).default(0);
export const weekdays = [
  "monday",
  "tuesday",
  "wednesday",
  "thursday",
  "friday",
  "saturday",
  "sunday",
] as const;

/** A time counted from another. Months that are too short end the count on their last day. */
export const relativeDate = z.strictObject({
  /** What it counts from. */
  reference: z.union([isoDate, otherQuery]),
  years: amount,
  months: amount,
  days: amount,
  hours: amount,
  minutes: amount,
  /** Then: the nth such weekday of that month; -1 is the last. */
  weekday: z
    .strictObject({ day: z.enum(weekdays), nth: z.union([z.int().min(1).max(5), z.literal(-1)]) })
    .optional(),
});
export type RelativeDate = z.output<typeof relativeDate>;

const moment = z.union([isoDate, relativeDate, assetReference, otherQuery]);
const rule = atLeastOne(["equals", "after", "before"]);

export const dateAssertion = z
  .strictObject({
    type: z.literal("date"),
    /** How the text may be written, in Luxon's tokens (`yyyy-MM-dd`, `d LLLL yyyy`); `iso` is ISO 8601. */
    formats: z.array(z.string().min(1).max(100)).min(1).default(["iso"]),
    /** Language of month and day names (BCP 47). */
    locale: z.string().max(35).refine(isKnownLocale, "is no language that this runtime knows").default("en"),
    /** Zone of a time that names none. */
    zone: zone.default("UTC"),
    equals: moment.optional(),
    /** Strictly later, strictly earlier. */
    after: moment.optional(),
    before: moment.optional(),
    /** What is compared; smaller parts are ignored on both sides. */
    precision: z.enum(["year", "month", "day", "hour", "minute", "second"]).default("day"),
    tolerance_seconds: z.number().nonnegative().default(0),
  })
  .refine(rule.check, rule.message);
export type DateAssertion = z.output<typeof dateAssertion>;
