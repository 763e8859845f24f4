import { numberOrNull } from "./source.ts";

const pattern = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:\.\d{1,9})?) ?(Z|[+-]\d\d(?::?\d\d)?)?$/;

/** A point in time as milliseconds since the epoch, from text (UTC, if it names no zone) or from a number; null for any other value. */
export function millisOf(value: unknown): number | null {
  if (typeof value !== "string") {
    return numberOrNull(value);
  }
  const [, date, time, zone = "Z"] = pattern.exec(value) ?? [];
  if (date === undefined) {
    return numberOrNull(value);
  }
  const offset = zone.length === 3 ? `${zone}:00` : zone;
  const millis = Date.parse(`${date}T${time}${offset}`);
  return Number.isNaN(millis) ? null : millis;
}
