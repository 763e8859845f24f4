import type { ResolvedValueOptions } from "../options.ts";
import { secondsPerDay } from "./calendar.ts";
import type { Conversion } from "./conversion.ts";
import { durationText } from "./interval.ts";
import { clockRenderer, instantRenderer, type RenderTimestamp, timestampRenderer } from "./moment.ts";
import { integerField, type Struct } from "./struct-field.ts";

/**
 * The messages that Protobuf has for points in time (`google/protobuf/*.proto`, `google/type/*.proto`). Confluent's converter writes
 * Connect's own types as them, so that those take a struct too. Protobuf does not write zeros: an absent field is 0.
 */

const nanosPerSecond = 1_000_000_000;
const mostSeconds = Number.MAX_SAFE_INTEGER;

/** `google.protobuf.Timestamp`: an instant. */
export function messageInstantConversion(name: string, options: ResolvedValueOptions): Conversion {
  return { struct: splitMessage(name, instantRenderer(options)) };
}

/** The same message where it stands for a timestamp without a zone. */
export function messageTimestampConversion(name: string, options: ResolvedValueOptions): Conversion {
  return { struct: splitMessage(name, timestampRenderer(options)) };
}

/** `google.type.TimeOfDay`. */
export function messageTimeConversion(name: string, options: ResolvedValueOptions): Conversion {
  const render = clockRenderer(options);
  return {
    struct: (value) => {
      const hours = integerField(name, value, "hours", 0, 24);
      const minutes = integerField(name, value, "minutes", 0, 59);
      const seconds = integerField(name, value, "seconds", 0, 60); // a leap second is allowed
      return render(false, (hours * 60 + minutes) * 60 + seconds, integerField(name, value, "nanos", 0, nanosPerSecond - 1));
    },
  };
}

/** `google.protobuf.Duration`, as an ISO duration of days at most: it knows no months. */
export function messageDurationConversion(name: string): Conversion {
  return {
    struct: (value) => {
      const seconds = integerField(name, value, "seconds", -mostSeconds, mostSeconds);
      const nanos = integerField(name, value, "nanos", 1 - nanosPerSecond, nanosPerSecond - 1);
      return durationText({ years: 0, months: 0, days: 0, hours: 0, minutes: 0, seconds, picos: nanos * 1000 });
    },
  };
}

function splitMessage(name: string, render: RenderTimestamp): (value: Struct) => unknown {
  return (value) => {
    const seconds = integerField(name, value, "seconds", -mostSeconds, mostSeconds);
    const days = Math.floor(seconds / secondsPerDay);
    return render(days, seconds - days * secondsPerDay, integerField(name, value, "nanos", 0, nanosPerSecond - 1));
  };
}
