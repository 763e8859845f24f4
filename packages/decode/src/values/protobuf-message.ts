import type { ResolvedValueOptions } from "../options.ts";
import { secondsPerDay } from "./calendar.ts";
import type { Conversion } from "./conversion.ts";
import { clockRenderer, timestampRenderer } from "./moment.ts";
import { integerField } from "./struct-field.ts";

/**
 * Connect's own times in the form of Confluent's Protobuf converter, which writes them as Google's messages. These do not say what they
 * were in Connect. If a hint says it, they are converted. Protobuf does not write zeros, so an absent field is 0.
 */

const maxNanos = 999_999_999;

/** A timestamp without a zone, in a `google.protobuf.Timestamp`. */
export function messageTimestampConversion(name: string, options: ResolvedValueOptions): Conversion {
  const render = timestampRenderer(options);
  return {
    struct: (value) => {
      const seconds = integerField(name, value, "seconds", -Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
      const days = Math.floor(seconds / secondsPerDay);
      return render(days, seconds - days * secondsPerDay, integerField(name, value, "nanos", 0, maxNanos));
    },
  };
}

/** A time of day, in a `google.type.TimeOfDay`. */
export function messageTimeConversion(name: string, options: ResolvedValueOptions): Conversion {
  const render = clockRenderer(options);
  return {
    struct: (value) => {
      const hours = integerField(name, value, "hours", 0, 24);
      const minutes = integerField(name, value, "minutes", 0, 59);
      const seconds = integerField(name, value, "seconds", 0, 60); // Google's type allows a leap second
      return render(false, (hours * 60 + minutes) * 60 + seconds, integerField(name, value, "nanos", 0, maxNanos));
    },
  };
}
