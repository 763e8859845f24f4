import { numberOrNull } from "./source.ts";

const pattern = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:\.\d{1,9})?) ?(Z|[+-]\d\d(?::?\d\d)?)?$/;

/** Milliseconds since the epoch of a moment as text, of UTC where it names no zone, or as a number; null where it is neither. */
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
