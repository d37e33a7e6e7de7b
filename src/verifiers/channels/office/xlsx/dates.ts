/**
 * Dates of a sheet: days since 1899-12-31 in the 1900 system, in which 1900 has a 29th of February that never was (day 60), or since
 * 1904-01-01 in the other. A cell holds the number; only its format says that it is a date.
 */
const DAY = 86_400_000;
const EPOCH_1900 = Date.UTC(1899, 11, 30);
const EPOCH_1904 = Date.UTC(1904, 0, 1);
/** The first day after the one that never was. */
const AFTER_LEAP = 61;
/** 9999-12-31. */
const LAST_DAY = 2_958_466;

/** True for a number format that shows a date or a time. */
export function isDateFormat(code: string): boolean {
  const [first = ""] = code.split(";");
  const bare = first.replaceAll(/"[^"]*"|\\.|_./g, "").replaceAll(/\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, "");
  return /[ymdhs]/i.test(bare) && !/general/i.test(bare);
}

/** ISO text of a date, a time of day, or both; undefined beyond the calendar. Rounded to the millisecond. */
export function dateText(serial: number, from1904: boolean): string | undefined {
  if (!(serial >= 0 && serial < LAST_DAY)) return undefined;
  if (serial < 1 && serial > 0) return clock(new Date(Math.round(serial * DAY)));
  if (!from1904 && Math.floor(serial) === AFTER_LEAP - 1) return "1900-02-29";
  const epoch = from1904 ? EPOCH_1904 : serial < AFTER_LEAP ? EPOCH_1900 + DAY : EPOCH_1900;
  const date = new Date(epoch + Math.round(serial * DAY));
  const day = date.toISOString().slice(0, 10);
  return Number.isInteger(serial) ? day : `${day}T${clock(date)}`;
}

function clock(date: Date): string {
  return date
    .toISOString()
    .slice(11, 23)
    .replace(/\.000$/, "");
}
