import type { ResolvedValueOptions } from "../options.ts";
import { calendarFieldsText, daysOf, isOnCalendar, secondsPerDay } from "./calendar.ts";
import { clockText, offsetText } from "./clock.ts";
import type { Conversion } from "./conversion.ts";
import { fractionText } from "./digits.ts";
import { durationText } from "./interval.ts";
import { clockRenderer, dateRenderer, infinityText, instantRenderer, negativeInfinityText, timestampRenderer } from "./moment.ts";
import { integerField, ownField, type Struct } from "./struct-field.ts";
import { valueInvalid } from "./value-invalid.ts";

/**
 * Debezium's `structured` mode: calendar and clock fields in a struct. The fraction is `picoseconds`, and was `nanos` in early versions.
 * Months and days may be zero (MySQL's zero dates). Such dates, and days that are not in the calendar, stay text in every mode.
 */

const picosPerSecond = 1_000_000_000_000;

export function structuredDateConversion(name: string, options: ResolvedValueOptions): Conversion {
  const render = options.time === "iso" ? null : dateRenderer(options);
  return special((value) => {
    const date = dateFields(name, value);
    return render === null || !date.isReal ? date.text : render(date.days);
  });
}

export function structuredTimeConversion(name: string, options: ResolvedValueOptions): Conversion {
  const render = clockRenderer(options);
  return special((value) => {
    const { second, picos } = clockFields(name, value);
    return picos % 1000 === 0 ? render(false, second, picos / 1000) : clockText(second, 0) + fractionText(picos, 12);
  });
}

export function structuredTimestampConversion(name: string, options: ResolvedValueOptions): Conversion {
  const render = timestampRenderer(options);
  const keepText = options.time === "iso";
  return special((value) => {
    const date = dateFields(name, value);
    const { second, picos } = clockFields(name, value);
    if (!date.isReal || (keepText && second < secondsPerDay)) {
      return `${date.text}T${clockText(second, 0)}${fractionText(picos, 12)}`;
    }
    const nextDays = second === secondsPerDay ? 1 : 0; // 24:00 is 00:00 of the next day
    return render(date.days + nextDays, second - nextDays * secondsPerDay, Math.floor(picos / 1000));
  });
}

/** A time with a zone. The offset is kept. The zone's name is not needed to know the instant, so it is dropped. */
export function structuredZonedTimeConversion(name: string): Conversion {
  return special((value) => {
    const { second, picos } = clockFields(name, value);
    return clockText(second, 0) + fractionText(picos, 12) + offsetText(offsetOf(name, value));
  });
}

export function structuredZonedTimestampConversion(name: string, options: ResolvedValueOptions): Conversion {
  const render = options.time === "iso" ? null : instantRenderer(options);
  return special((value) => {
    const date = dateFields(name, value);
    const { second, picos } = clockFields(name, value);
    const offset = offsetOf(name, value);
    if (render === null || !date.isReal) {
      return `${date.text}T${clockText(second, 0)}${fractionText(picos, 12)}${offsetText(offset)}`;
    }
    const utc = date.days * secondsPerDay + second - offset;
    const days = Math.floor(utc / secondsPerDay);
    return render(days, utc - days * secondsPerDay, Math.floor(picos / 1000));
  });
}

export function structuredDurationConversion(name: string): Conversion {
  const field = (value: Struct, of: string): number => integerField(name, value, of, -Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  return {
    struct: (value) =>
      durationText({
        years: field(value, "years"),
        months: field(value, "months"),
        days: field(value, "days"),
        hours: field(value, "hours"),
        minutes: field(value, "minutes"),
        seconds: field(value, "seconds"),
        picos: picosOf(name, value, -picosPerSecond + 1),
      }),
  };
}

/** A conversion that also reads infinities. They have a field of their own, and the other fields are absent. */
function special(finite: (value: Struct) => unknown): Conversion {
  return {
    struct: (value) => {
      switch (ownField(value, "specialValue")) {
        case "POSITIVE_INFINITY":
          return infinityText;
        case "NEGATIVE_INFINITY":
          return negativeInfinityText;
        default:
          return finite(value);
      }
    },
  };
}

interface DateFields {
  readonly text: string;
  readonly days: number;
  /** Whether the calendar has the day. MySQL can be configured to store the 31st of February. */
  readonly isReal: boolean;
}

function dateFields(name: string, value: Struct): DateFields {
  const year = integerField(name, value, "year", -999_999_999, 999_999_999);
  const month = integerField(name, value, "month", 0, 12);
  const day = integerField(name, value, "day", 0, 31);
  return { text: calendarFieldsText(year, month, day), days: daysOf(year, month, day), isReal: isOnCalendar(year, month, day) };
}

function clockFields(name: string, value: Struct): { second: number; picos: number } {
  const hour = integerField(name, value, "hour", 0, 24);
  const minute = integerField(name, value, "minute", 0, 59);
  const second = hour * 3600 + minute * 60 + integerField(name, value, "second", 0, 59);
  const picos = picosOf(name, value, 0);
  if (second + picos / picosPerSecond > secondsPerDay) {
    throw valueInvalid(name, "a time up to 24:00:00", "a later one");
  }
  return { second, picos };
}

function picosOf(name: string, value: Struct, min: number): number {
  if (ownField(value, "picoseconds") !== null) {
    return integerField(name, value, "picoseconds", min, picosPerSecond - 1);
  }
  return integerField(name, value, "nanos", Math.ceil(min / 1000), 999_999_999) * 1000;
}

function offsetOf(name: string, value: Struct): number {
  return integerField(name, value, "offsetSeconds", -64_800, 64_800);
}
