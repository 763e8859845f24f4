import type { ResolvedValueOptions } from "../options.ts";
import type { Conversion } from "./conversion.ts";
import { dateRenderer, infinityText, negativeInfinityText } from "./moment.ts";
import { valueInvalid } from "./value-invalid.ts";

/**
 * The numbers that Debezium sends for PostgreSQL's infinite dates. When Debezium reads the log, they are its constants -5877611-06-21 and
 * -5877611-06-22. The positive one is a negative number because the driver's milliseconds overflow when they become a calendar date. In a
 * snapshot, the days of these milliseconds overflow 32 bits, and the result is a day later if Java's clock is east of UTC.
 */
const infiniteDays: ReadonlyMap<number, string> = new Map([
  [-2_147_472_692, infinityText],
  [-2_147_472_691, negativeInfinityText],
  [-622_191_234, infinityText],
  [-622_191_233, infinityText],
  [-625_821_272, negativeInfinityText],
  [-625_821_271, negativeInfinityText],
]);

/** Long before the first day that any source has. */
const earliestDay = -600_000_000;

/** Days since the epoch, in 32 bits. */
export function dateConversion(name: string, options: ResolvedValueOptions): Conversion {
  const render = dateRenderer(options);
  return {
    ...plainDateConversion(name, options),
    int: (days) => (days < earliestDay ? (infiniteDays.get(days) ?? render(days)) : render(days)),
  };
}

/** The conversion of dates without infinities, which are Avro's own. */
export function plainDateConversion(name: string, options: ResolvedValueOptions): Conversion {
  return {
    int: dateRenderer(options),
    bigint: () => {
      throw valueInvalid(name, "a count of days in 32 bits", "a larger number");
    },
  };
}
