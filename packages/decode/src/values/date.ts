import type { ResolvedValueOptions } from "../options.ts";
import type { Conversion } from "./conversion.ts";
import { dateRenderer, infinityText, negativeInfinityText } from "./moment.ts";
import { valueInvalid } from "./value-invalid.ts";

/**
 * What PostgreSQL's infinite dates come out of Debezium as: its constants -5877611-06-21 and -5877611-06-22. The positive one is
 * negative because the driver's milliseconds overflowed on their way into a calendar date.
 */
const infinityDay = -2_147_472_692;
const negativeInfinityDay = -2_147_472_691;

/** Days since the epoch, in 32 bits. */
export function dateConversion(name: string, options: ResolvedValueOptions): Conversion {
  const render = dateRenderer(options);
  return {
    int: (days) => {
      if (days === infinityDay) {
        return infinityText;
      }
      return days === negativeInfinityDay ? negativeInfinityText : render(days);
    },
    bigint: () => {
      throw valueInvalid(name, "a count of days in 32 bits", "a larger number");
    },
  };
}
