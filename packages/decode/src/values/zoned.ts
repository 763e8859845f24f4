import type { ResolvedValueOptions } from "../options.ts";
import { daysOf, secondsPerDay } from "./calendar.ts";
import type { Conversion } from "./conversion.ts";
import { infinityText, isWithinReach, negativeInfinityText, temporalText } from "./moment.ts";
import { valueInvalid } from "./value-invalid.ts";

/** ISO_OFFSET_DATE_TIME of Java: year, month, day, hour, minute, second, fraction, offset. */
const zonedTimestamp =
  /^([+-]?\d{4,9})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,12}))?)?(?:Z|([+-])(\d\d)(?::?(\d\d)(?::?(\d\d))?)?)$/;

/** An instant with its offset. Debezium's text is the ISO value already; it is parsed only where `Date` or `Temporal` is wanted. */
export function zonedTimestampConversion(name: string, { time, temporal }: ResolvedValueOptions): Conversion | null {
  if (time === "temporal" && temporal !== undefined) {
    return { text: (text) => (isDateable(name, text) ? temporal.Instant.from(temporalText(text)) : text) };
  }
  if (time === "date") {
    return { text: (text) => (isDateable(name, text) ? new Date(millisOf(text)) : text) };
  }
  return null;
}

function isDateable(name: string, text: string): boolean {
  if (text === infinityText || text === negativeInfinityText) {
    return false;
  }
  const fields = zonedTimestamp.exec(text);
  if (fields === null) {
    throw valueInvalid(name, "an ISO timestamp with an offset", "other text");
  }
  return isWithinReach(daysOf(Number(fields[1]), Number(fields[2]), Number(fields[3])));
}

/** The caller has matched the text. */
function millisOf(text: string): number {
  const fields = zonedTimestamp.exec(text) as RegExpExecArray;
  const [year, month, day, hour, minute, second] = fields.slice(1, 7).map((field) => Number(field ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const offset = (Number(fields[9] ?? 0) * 60 + Number(fields[10] ?? 0)) * 60 + Number(fields[11] ?? 0);
  const local = daysOf(year, month, day) * secondsPerDay + (hour * 60 + minute) * 60 + second;
  const millis = Number((fields[7] ?? "").slice(0, 3).padEnd(3, "0"));
  return (local - (fields[8] === "-" ? -offset : offset)) * 1000 + millis;
}
