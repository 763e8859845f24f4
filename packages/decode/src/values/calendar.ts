import { clockText } from "./clock.ts";
import { fractionText, integerText, paddedText, twoDigits } from "./digits.ts";

/**
 * Dates and timestamps as ISO text, made by arithmetic alone. A `Date` object costs several times as much and does not support all years
 * that PostgreSQL has. The calendar is the proleptic Gregorian one, in which year 0 is 1 BC.
 *
 * The arithmetic counts in 400-year cycles from 0000-03-01, so that the leap day is the last day of its year. It finds the month with the
 * Euclidean affine functions of Neri and Schneider (https://doi.org/10.1002/spe.3172).
 */

export const secondsPerDay = 86_400;

/** The number of days from 0000-03-01 to the epoch. */
const cycleStartDays = 719_468;
/** 10000-01-01 as days since the epoch. */
const firstExpandedDay = 2_932_897;
const daysPerCycle = 146_097;

/** A day since the epoch as `YYYY-MM-DD`. Years before 0 and after 9999 have a sign. */
export function dateText(days: number): string {
  if (days < -cycleStartDays || days >= firstExpandedDay) {
    return expandedDateText(days);
  }
  const packed = packedDate(days);
  const century = packed >> 16;
  const year = (packed >> 9) & 127;
  const month = (packed >> 5) & 15;
  const day = packed & 31;
  const c = (century / 10) | 0;
  const y = (year / 10) | 0;
  const mo = month > 9 ? 1 : 0;
  const d = (day / 10) | 0;
  // biome-ignore format: one line a part of the text
  return String.fromCharCode(
    48 + c, 48 + century - c * 10, 48 + y, 48 + year - y * 10, 45, 48 + mo, 48 + month - mo * 10, 45, 48 + d, 48 + day - d * 10,
  );
}

/**
 * `YYYY-MM-DDTHH:MM:SS` and the fraction without trailing zeros. One call of `fromCharCode` makes a flat string. Concatenation would make a
 * tree, which the first reader has to flatten.
 */
export function timestampText(days: number, second: number, nanos: number): string {
  if (days < -cycleStartDays || days >= firstExpandedDay) {
    return `${expandedDateText(days)}T${clockText(second, nanos)}`;
  }
  const packed = packedDate(days);
  const century = packed >> 16;
  const year = (packed >> 9) & 127;
  const month = (packed >> 5) & 15;
  const day = packed & 31;
  const c = (century / 10) | 0;
  const y = (year / 10) | 0;
  const mo = month > 9 ? 1 : 0;
  const d = (day / 10) | 0;
  const hour = (second / 3600) | 0;
  const ofHour = second - hour * 3600;
  const minute = (ofHour / 60) | 0;
  const sec = ofHour - minute * 60;
  const h = (hour / 10) | 0;
  const mi = (minute / 10) | 0;
  const s = (sec / 10) | 0;
  const milli = (nanos / 1_000_000) | 0;
  const ofMilli = nanos - milli * 1_000_000;
  const micro = (ofMilli / 1000) | 0;
  const m1 = (milli / 100) | 0;
  const m2 = ((milli - m1 * 100) / 10) | 0;
  const m3 = milli - m1 * 100 - m2 * 10;
  const u1 = (micro / 100) | 0;
  const u2 = ((micro - u1 * 100) / 10) | 0;
  const u3 = micro - u1 * 100 - u2 * 10;
  if (u3 !== 0 && ofMilli === micro * 1000) {
    // biome-ignore format: one line a part of the text
    return String.fromCharCode(
      48 + c, 48 + century - c * 10, 48 + y, 48 + year - y * 10, 45, 48 + mo, 48 + month - mo * 10, 45, 48 + d, 48 + day - d * 10, 84,
      48 + h, 48 + hour - h * 10, 58, 48 + mi, 48 + minute - mi * 10, 58, 48 + s, 48 + sec - s * 10,
      46, 48 + m1, 48 + m2, 48 + m3, 48 + u1, 48 + u2, 48 + u3,
    );
  }
  if (m3 !== 0 && ofMilli === 0) {
    // biome-ignore format: one line a part of the text
    return String.fromCharCode(
      48 + c, 48 + century - c * 10, 48 + y, 48 + year - y * 10, 45, 48 + mo, 48 + month - mo * 10, 45, 48 + d, 48 + day - d * 10, 84,
      48 + h, 48 + hour - h * 10, 58, 48 + mi, 48 + minute - mi * 10, 58, 48 + s, 48 + sec - s * 10,
      46, 48 + m1, 48 + m2, 48 + m3,
    );
  }
  // biome-ignore format: one line a part of the text
  const toTheSecond = String.fromCharCode(
    48 + c, 48 + century - c * 10, 48 + y, 48 + year - y * 10, 45, 48 + mo, 48 + month - mo * 10, 45, 48 + d, 48 + day - d * 10, 84,
    48 + h, 48 + hour - h * 10, 58, 48 + mi, 48 + minute - mi * 10, 58, 48 + s, 48 + sec - s * 10,
  );
  return nanos === 0 ? toTheSecond : toTheSecond + fractionText(nanos, 9);
}

/** Calendar fields as `YYYY-MM-DD`, including MySQL's zero months and zero days. */
export function calendarFieldsText(year: number, month: number, day: number): string {
  return `${yearText(year)}-${twoDigits(month)}-${twoDigits(day)}`;
}

/** Days since the epoch of a calendar date. */
export function daysOf(year: number, month: number, day: number): number {
  const marchYear = month < 3 ? year - 1 : year;
  const cycle = Math.floor(marchYear / 400);
  const ofCycle = marchYear - cycle * 400;
  const dayOfYear = Math.floor((153 * (month < 3 ? month + 9 : month - 3) + 2) / 5) + day - 1;
  return cycle * daysPerCycle + ofCycle * 365 + Math.floor(ofCycle / 4) - Math.floor(ofCycle / 100) + dayOfYear - cycleStartDays;
}

/** Whether the calendar has this day. */
export function isOnCalendar(year: number, month: number, day: number): boolean {
  const isMonth = month >= 1 && month <= 12;
  const nextMonth = month === 12 ? daysOf(year + 1, 1, 1) : daysOf(year, month + 1, 1);
  return isMonth && day >= 1 && daysOf(year, month, day) < nextMonth;
}

/** Century, year of the century, month and day in one integer: 7, 4 and 5 bits below the century. */
function packedDate(days: number): number {
  const n = 4 * (days + cycleStartDays) + 3;
  let century = (n / daysPerCycle) | 0;
  const ofCentury = (n - century * daysPerCycle) | 3;
  let year = (ofCentury / 1461) | 0;
  const dayOfYear = (ofCentury - year * 1461) >> 2;
  const p = 2141 * dayOfYear + 197_913;
  let month = p >> 16;
  if (dayOfYear >= 306) {
    month -= 12; // January and February belong to the year that began in the March before
    year++;
    if (year === 100) {
      year = 0;
      century++;
    }
  }
  return (century << 16) | (year << 9) | (month << 5) | ((((p & 65_535) / 2141) | 0) + 1);
}

/** The date by floating-point arithmetic, for days that do not fit in 32 bits. */
function expandedDateText(days: number): string {
  const cycle = Math.floor((days + cycleStartDays) / daysPerCycle);
  const inFirstCycle = dateText(days - cycle * daysPerCycle); // the same day of the cycle, in the years 0 to 400
  return yearText(Number(inFirstCycle.slice(0, 4)) + cycle * 400) + inFirstCycle.slice(4);
}

/** A year as four digits, or as a sign and at least four digits. */
function yearText(year: number): string {
  if (year >= 0 && year <= 9999) {
    return paddedText(year, 4);
  }
  const digits = Math.abs(year) < 10_000 ? paddedText(Math.abs(year), 4) : integerText(Math.abs(year));
  return (year < 0 ? "-" : "+") + digits;
}
