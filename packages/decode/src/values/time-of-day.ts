import type { ResolvedValueOptions } from "../options.ts";
import type { Conversion } from "./conversion.ts";
import { clockRenderer } from "./moment.ts";

/** A time of day in units of 1/`unitsPerSecond`. MySQL's TIME may be negative and longer than a day. */
export function timeOfDayConversion(unitsPerSecond: number, options: ResolvedValueOptions): Conversion {
  const render = clockRenderer(options);
  const nanosPerUnit = 1_000_000_000 / unitsPerSecond;
  const wideUnitsPerSecond = BigInt(unitsPerSecond);
  return {
    int: (value) => {
      const magnitude = Math.abs(value);
      let second = Math.floor(magnitude / unitsPerSecond);
      let rest = magnitude - second * unitsPerSecond;
      if (rest < 0) {
        second--; // the division rounded up to the next integer
        rest += unitsPerSecond;
      }
      return render(value < 0, second, rest * nanosPerUnit);
    },
    bigint: (value) => {
      const magnitude = value < 0n ? -value : value;
      return render(value < 0n, Number(magnitude / wideUnitsPerSecond), Number(magnitude % wideUnitsPerSecond) * nanosPerUnit);
    },
  };
}
