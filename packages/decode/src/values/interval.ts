import type { Conversion } from "./conversion.ts";
import { fractionText, integerText } from "./digits.ts";
import { valueInvalid } from "./value-invalid.ts";

/** The parts of a duration; each may be negative. `picos` is below a second and has the sign of the seconds. */
export interface DurationParts {
  readonly years: number;
  readonly months: number;
  readonly days: number;
  readonly hours: number;
  readonly minutes: number;
  readonly seconds: number;
  readonly picos: number;
}

/** An ISO duration in Debezium's full pattern: `P1Y2M3DT4H5M6.78S`, zeros included. */
export function durationText(parts: DurationParts): string {
  const { years, months, days, hours, minutes, seconds, picos } = parts;
  const sign = seconds < 0 || picos < 0 ? "-" : "";
  const secondsText = sign + integerText(Math.abs(seconds)) + fractionText(Math.abs(picos), 12);
  return `P${years}Y${months}M${days}DT${hours}H${minutes}M${secondsText}S`;
}

/** Avro's `duration`: months, days and milliseconds, each 32 bits unsigned, low byte first. */
export function avroDurationConversion(name: string): Conversion {
  return {
    bytes: (bytes, start, end) => {
      if (end - start !== 12) {
        throw valueInvalid(name, "12 bytes", `${end - start}`);
      }
      const view = new DataView(bytes.buffer, bytes.byteOffset + start, 12);
      const months = view.getUint32(0, true);
      const days = view.getUint32(4, true);
      const millis = view.getUint32(8, true);
      const seconds = Math.floor(millis / 1000);
      return durationText({
        years: Math.floor(months / 12),
        months: months % 12,
        days,
        hours: Math.floor(seconds / 3600),
        minutes: Math.floor(seconds / 60) % 60,
        seconds: seconds % 60,
        picos: (millis % 1000) * 1_000_000_000,
      });
    },
  };
}
