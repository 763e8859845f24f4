import type { ResolvedValueOptions } from "../options.ts";
import { calendarFieldsText, daysOf, isOnCalendar, timestampText } from "./calendar.ts";
import { clockText, offsetText } from "./clock.ts";
import { clockRenderer, dateRenderer, timestampRenderer } from "./moment.ts";
import { zonedTimestampConversion } from "./zoned.ts";

/**
 * Dates and times in SQL's form. Text in another style than ISO 8601 stays as it is (PostgreSQL's DateStyle has a style whose days and
 * months look the same), and so do infinities. Dates that are not in the calendar, such as MySQL's zero dates, are text in every mode.
 */

const datePattern = /^(\d{4,6})-(\d\d)-(\d\d)( BC)?$/;
const timestampPattern =
  /^(\d{4,6})-(\d\d)-(\d\d)[ T]([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,9}))?(Z|[+-][01]\d(?::?[0-5]\d){0,2})?( BC)?$/;
const timePattern = /^(-?)(\d{1,3}):([0-5]\d):([0-5]\d)(?:\.(\d{1,9}))?$/;
const zonedTimePattern = /^([01]\d|2[0-4]):([0-5]\d):([0-5]\d)(?:\.(\d{1,9}))?(Z|[+-][01]\d(?::?[0-5]\d){0,2})$/;

type Convert = (text: string) => unknown;

export function dateOfText(options: ResolvedValueOptions): Convert {
  const render = dateRenderer(options);
  return (text) => {
    const fields = datePattern.exec(text);
    if (fields === null) {
      return text;
    }
    const [year, month, day] = dateFields(fields, fields[4]);
    return isOnCalendar(year, month, day) ? render(daysOf(year, month, day)) : calendarFieldsText(year, month, day);
  };
}

/** A timestamp without a zone. If the text has one although none is expected, it is kept. */
export function timestampOfText(options: ResolvedValueOptions): Convert {
  const render = timestampRenderer(options);
  const zoned = zonedTimestampOfText(options);
  return (text) => {
    const fields = timestampPattern.exec(text);
    if (fields === null) {
      return text;
    }
    if (fields[8] !== undefined) {
      return zoned(text);
    }
    const [year, month, day] = dateFields(fields, fields[9]);
    const second = secondOf(fields, 4);
    const nanos = nanosOf(fields[7]);
    return isOnCalendar(year, month, day)
      ? render(daysOf(year, month, day), second, nanos)
      : `${calendarFieldsText(year, month, day)}T${clockText(second, nanos)}`;
  };
}

/** A timestamp with its zone. If the text has no zone, it is read as a timestamp without one. */
export function zonedTimestampOfText(options: ResolvedValueOptions): Convert {
  const render = zonedTimestampConversion("timestamp with time zone", options)?.text;
  return (text) => {
    const fields = timestampPattern.exec(text);
    if (fields === null) {
      return text;
    }
    const [year, month, day] = dateFields(fields, fields[9]);
    if (!isOnCalendar(year, month, day)) {
      return text;
    }
    const local = timestampText(daysOf(year, month, day), secondOf(fields, 4), nanosOf(fields[7]));
    const zone = fields[8];
    const iso = zone === undefined ? local : local + zoneText(zone);
    return render === undefined || zone === undefined ? iso : render(iso);
  };
}

/** A time of day, or MySQL's signed and longer times. */
export function timeOfText(options: ResolvedValueOptions): Convert {
  const render = clockRenderer(options);
  return (text) => {
    const fields = timePattern.exec(text);
    return fields === null ? text : render(fields[1] === "-", secondOf(fields, 2), nanosOf(fields[5]));
  };
}

/** A time with its zone is text in every mode. */
export function zonedTimeOfText(): Convert {
  return (text) => {
    const fields = zonedTimePattern.exec(text);
    return fields === null ? text : clockText(secondOf(fields, 1), nanosOf(fields[4])) + zoneText(fields[5] ?? "Z");
  };
}

function dateFields(fields: RegExpExecArray, era: string | undefined): readonly [year: number, month: number, day: number] {
  const year = Number(fields[1]);
  return [era === undefined ? year : 1 - year, Number(fields[2]), Number(fields[3])];
}

function secondOf(fields: RegExpExecArray, hourAt: number): number {
  return (Number(fields[hourAt]) * 60 + Number(fields[hourAt + 1])) * 60 + Number(fields[hourAt + 2]);
}

function nanosOf(fraction: string | undefined): number {
  return fraction === undefined ? 0 : Number(fraction.padEnd(9, "0"));
}

/** A zone `+02`, `+0530` or `+05:30` in one form. */
function zoneText(zone: string): string {
  if (zone === "Z") {
    return zone;
  }
  const [hours = 0, minutes = 0, seconds = 0] = Array.from(zone.slice(1).matchAll(/\d\d/g), ([digits]) => Number(digits));
  const offset = (hours * 60 + minutes) * 60 + seconds;
  return offsetText(zone.startsWith("-") ? -offset : offset);
}
