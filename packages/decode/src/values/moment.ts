import type { ResolvedValueOptions } from "../options.ts";
import { dateText, secondsPerDay, timestampText } from "./calendar.ts";
import { clockText } from "./clock.ts";

/**
 * Converts points in time into the form that the options ask for. Each semantic type splits its raw value into days, seconds and
 * nanoseconds, and one of these functions makes the value that users see. Values that `Date` or `Temporal` cannot hold (infinity, the far
 * years of PostgreSQL) stay ISO text in all modes.
 */

export const infinityText = "infinity";
export const negativeInfinityText = "-infinity";

export type RenderDate = (days: number) => unknown;
/** `second` is the second of the day, `nanos` is the rest. */
export type RenderTimestamp = (days: number, second: number, nanos: number) => unknown;
export type RenderClock = (isNegative: boolean, second: number, nanos: number) => unknown;

/** The number of days before and after the epoch that `Date` and `Temporal` support. */
const maxDay = 100_000_000;

/** A calendar date. */
export function dateRenderer({ time, temporal }: ResolvedValueOptions): RenderDate {
  if (time === "temporal" && temporal !== undefined) {
    return (days) => (isWithinReach(days) ? temporal.PlainDate.from(temporalText(dateText(days))) : dateText(days));
  }
  if (time === "date") {
    return (days) => (isWithinReach(days) ? new Date(days * secondsPerDay * 1000) : dateText(days));
  }
  return dateText;
}

/** A timestamp without a zone. As a `Date`, it is the instant at which a clock in UTC shows it. */
export function timestampRenderer({ time, temporal }: ResolvedValueOptions): RenderTimestamp {
  if (time === "temporal" && temporal !== undefined) {
    return (days, second, nanos) => {
      const text = timestampText(days, second, nanos);
      return isWithinReach(days) ? temporal.PlainDateTime.from(temporalText(text)) : text;
    };
  }
  return time === "date" ? dateOrElse(timestampText) : timestampText;
}

/** An instant. */
export function instantRenderer({ time, temporal }: ResolvedValueOptions): RenderTimestamp {
  const text: (days: number, second: number, nanos: number) => string = (days, second, nanos) => `${timestampText(days, second, nanos)}Z`;
  if (time === "temporal" && temporal !== undefined) {
    return (days, second, nanos) => {
      const iso = text(days, second, nanos);
      return isWithinReach(days) ? temporal.Instant.from(temporalText(iso)) : iso;
    };
  }
  return time === "date" ? dateOrElse(text) : text;
}

/** A time of day, or MySQL's signed and longer times. A `Date` cannot hold either, so they are text in that mode too. */
export function clockRenderer({ time, temporal }: ResolvedValueOptions): RenderClock {
  if (time === "temporal" && temporal !== undefined) {
    return (isNegative, second, nanos) => {
      const text = clockText(second, nanos);
      if (!isNegative && second < secondsPerDay) {
        return temporal.PlainTime.from(text);
      }
      const [hours, minutes, seconds] = text.split(":");
      return temporal.Duration.from(`${isNegative ? "-" : ""}PT${hours}H${minutes}M${seconds}S`);
    };
  }
  return (isNegative, second, nanos) => (isNegative ? `-${clockText(second, nanos)}` : clockText(second, nanos));
}

/** Whether `Date` and `Temporal` can hold a day. */
export function isWithinReach(days: number): boolean {
  return days >= -maxDay && days < maxDay;
}

/** ISO text with the six year digits that `Temporal` requires after a sign. */
function temporalText(text: string): string {
  const sign = text.charCodeAt(0);
  if (sign !== 0x2b && sign !== 0x2d) {
    return text;
  }
  const yearEnd = text.indexOf("-", 1);
  return text.charAt(0) + text.slice(1, yearEnd).padStart(6, "0") + text.slice(yearEnd);
}

function dateOrElse(text: (days: number, second: number, nanos: number) => string): RenderTimestamp {
  return (days, second, nanos) =>
    isWithinReach(days) ? new Date((days * secondsPerDay + second) * 1000 + Math.floor(nanos / 1_000_000)) : text(days, second, nanos);
}
