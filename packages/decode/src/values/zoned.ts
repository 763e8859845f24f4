import type { ResolvedValueOptions } from "../options.ts";
import { daysOf, isOnCalendar, secondsPerDay } from "./calendar.ts";
import type { Conversion } from "./conversion.ts";
import { infinityText, instantRenderer, isWithinReach, negativeInfinityText } from "./moment.ts";
import { valueInvalid } from "./value-invalid.ts";

/** Java's ISO_OFFSET_DATE_TIME: year, month, day, hour, minute, second, fraction, offset. */
const zonedTimestamp =
  /^([+-]?\d{4,9})-(\d\d)-(\d\d)T([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,12}))?)?(?:Z|([+-])([01]\d)(?::?([0-5]\d)(?::?([0-5]\d))?)?)$/;

/** An instant with its offset. Debezium's text is the ISO value already, so it is parsed only if `Date` or `Temporal` is asked for. */
export function zonedTimestampConversion(name: string, options: ResolvedValueOptions): Conversion | null {
  if (options.time !== "temporal" && options.time !== "date") {
    return null;
  }
  const render = instantRenderer(options);
  return {
    text: (text) => {
      if (text === infinityText || text === negativeInfinityText) {
        return text;
      }
      const { days, second, nanos } = utcOf(name, text);
      return isWithinReach(days) ? render(days, second, nanos) : text; // the text keeps its offset
    },
  };
}

/**
 * The same instant in UTC. The text for `Temporal` is made from it, because the errors of `Temporal` quote the text that they were given.
 */
function utcOf(name: string, text: string): { days: number; second: number; nanos: number } {
  const fields = zonedTimestamp.exec(text);
  const [year, month, day, hour, minute, second] = numbersOf(fields, 1);
  const [offsetHour, offsetMinute, offsetSecond] = numbersOf(fields, 9);
  if (fields === null || !isOnCalendar(year, month, day)) {
    throw valueInvalid(name, "an ISO timestamp with an offset", "other text");
  }
  const offset = (offsetHour * 60 + offsetMinute) * 60 + offsetSecond;
  const local = daysOf(year, month, day) * secondsPerDay + (hour * 60 + minute) * 60 + second;
  const utc = local - (fields[8] === "-" ? -offset : offset);
  const days = Math.floor(utc / secondsPerDay);
  return { days, second: utc - days * secondsPerDay, nanos: Number((fields[7] ?? "").slice(0, 9).padEnd(9, "0")) };
}

/** Six groups of digits from the group `first`, or 0 if a group is missing. */
function numbersOf(fields: RegExpExecArray | null, first: number): [number, number, number, number, number, number] {
  const at = (i: number): number => Number(fields?.[first + i] ?? 0);
  return [at(0), at(1), at(2), at(3), at(4), at(5)];
}
