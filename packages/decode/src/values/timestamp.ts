import type { ResolvedValueOptions } from "../options.ts";
import { secondsPerDay } from "./calendar.ts";
import type { Conversion } from "./conversion.ts";
import { infinityText, instantRenderer, negativeInfinityText, type RenderTimestamp, timestampRenderer } from "./moment.ts";
import { isLittleEndian, maxInt64, minInt64 } from "./wide-integer.ts";

/**
 * The numbers that the PostgreSQL driver makes from infinite timestamps. Debezium reads them as microseconds, or sends them as they are.
 */
const driverInfinity = 9_223_372_036_825_200_000n;
const driverNegativeInfinity = -9_223_372_036_832_400_000n;

/** A timestamp without a zone, in units of 1/`unitsPerSecond` since the epoch. */
export function timestampConversion(unitsPerSecond: number, options: ResolvedValueOptions): Conversion {
  const render = timestampRenderer(options);
  const int = splitSafe(unitsPerSecond, render); // the infinities of every unit are outside of the safe integers
  switch (unitsPerSecond) {
    case 1_000_000_000:
      return { int, bigint: unless(maxInt64, minInt64, splitNanos(render)) }; // the limits of an int64 are the infinities
    case 1_000_000:
      return { int, bigint: unless(driverInfinity, driverNegativeInfinity, splitWide(unitsPerSecond, render)) };
    default: {
      const asSent = unless(driverInfinity, driverNegativeInfinity, splitWide(unitsPerSecond, render));
      return { int, bigint: unless(driverInfinity / 1000n, driverNegativeInfinity / 1000n, asSent) };
    }
  }
}

function unless(infinity: bigint, negativeInfinity: bigint, split: (value: bigint) => unknown): (value: bigint) => unknown {
  return (value) => {
    if (value === infinity) {
      return infinityText;
    }
    return value === negativeInfinity ? negativeInfinityText : split(value);
  };
}

/** Avro's own timestamps without a zone, which have no infinities. */
export function localTimestampConversion(unitsPerSecond: number, options: ResolvedValueOptions): Conversion {
  const render = timestampRenderer(options);
  const split = unitsPerSecond === 1_000_000_000 ? splitNanos(render) : splitWide(unitsPerSecond, render);
  return { int: splitSafe(unitsPerSecond, render), bigint: split };
}

/** Avro's own instants, which have no infinities. */
export function instantConversion(unitsPerSecond: number, options: ResolvedValueOptions): Conversion {
  const render = instantRenderer(options);
  const split = unitsPerSecond === 1_000_000_000 ? splitNanos(render) : splitWide(unitsPerSecond, render);
  return { int: splitSafe(unitsPerSecond, render), bigint: split };
}

function splitSafe(unitsPerSecond: number, render: RenderTimestamp): (value: number) => unknown {
  const nanosPerUnit = 1_000_000_000 / unitsPerSecond;
  return (value) => {
    let seconds = Math.floor(value / unitsPerSecond);
    let rest = value - seconds * unitsPerSecond;
    if (rest < 0) {
      seconds--; // the division rounded up to the next integer
      rest += unitsPerSecond;
    }
    const days = Math.floor(seconds / secondsPerDay);
    // With `| 0` V8 knows that these are integers, so it allocates no numbers on the heap for them.
    return render(days, (seconds - days * secondsPerDay) | 0, (rest * nanosPerUnit) | 0);
  };
}

function splitWide(unitsPerSecond: number, render: RenderTimestamp): (value: bigint) => unknown {
  const unitsPerDay = BigInt(unitsPerSecond) * BigInt(secondsPerDay);
  const nanosPerUnit = 1_000_000_000 / unitsPerSecond;
  return (value) => {
    let days = value / unitsPerDay;
    let rest = value - days * unitsPerDay;
    if (rest < 0n) {
      days--;
      rest += unitsPerDay;
    }
    const ofDay = Number(rest);
    const second = Math.floor(ofDay / unitsPerSecond);
    return render(Number(days), second, (ofDay - second * unitsPerSecond) * nanosPerUnit);
  };
}

/**
 * Splits nanoseconds into seconds and the rest. Today's nanoseconds are all above 2^53, so without this function BigInt division would be
 * the common case. The seconds come from the rounded double and are at most one off. The nanoseconds come from the low 32 bits of `value -
 * seconds * 10^9`, which hold them completely.
 */
function splitNanos(render: RenderTimestamp): (value: bigint) => unknown {
  const wide = new BigInt64Array(1);
  const halves = new Int32Array(wide.buffer);
  const lowHalf = isLittleEndian() ? 0 : 1;
  return (value) => {
    wide[0] = value;
    const low = halves[lowHalf] as number;
    const high = halves[1 - lowHalf] as number;
    let seconds = Math.floor((high * 4_294_967_296 + (low >>> 0)) / 1_000_000_000);
    let nanos = (low - Math.imul(seconds, 1_000_000_000)) | 0;
    if (nanos < 0) {
      seconds--;
      nanos += 1_000_000_000;
    } else if (nanos >= 1_000_000_000) {
      seconds++;
      nanos -= 1_000_000_000;
    }
    const days = Math.floor(seconds / secondsPerDay);
    return render(days, (seconds - days * secondsPerDay) | 0, nanos);
  };
}
