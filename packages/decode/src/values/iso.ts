import type { ResolvedValueOptions } from "../options.ts";
import { daysOf, isOnCalendar } from "./calendar.ts";
import type { Conversion } from "./conversion.ts";
import {
  clockRenderer,
  dateRenderer,
  infinityText,
  negativeInfinityText,
  type RenderDate,
  type RenderTimestamp,
  timestampRenderer,
} from "./moment.ts";
import { valueInvalid } from "./value-invalid.ts";

/**
 * Debezium's `isostring` mode. It writes local dates and times with the suffix `Z`, although they have no zone. The suffix is removed, so
 * that the text is the same as in the other modes. PostgreSQL's infinities arrive as the same constants as in the other modes, written as
 * text.
 */

const isoDate = /^([+-]?\d{4,9})-(\d\d)-(\d\d)$/;
const labelledDate = /^[+-]?\d{4,9}-\d\d-\d\dZ$/;
const isoTime = /^(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?$/;

/** The dates from the log come first, then those from a snapshot: these depend on the local clock and are a day later east of UTC. */
const infiniteDates: ReadonlyMap<string, string> = new Map([
  ["-5877611-06-21", infinityText],
  ["-5877611-06-22", negativeInfinityText],
  ["+292278994-08-16", infinityText],
  ["+292278994-08-17", infinityText],
  ["+292269055-12-02", negativeInfinityText],
  ["+292269055-12-03", negativeInfinityText],
]);
const infiniteTimestamps: ReadonlyMap<string, string> = new Map([
  ["+294247-01-10T04:00:25.2", infinityText],
  ["-290308-12-21T19:59:27.6", negativeInfinityText],
]);

export function isoDateConversion(name: string, options: ResolvedValueOptions): Conversion {
  const render = options.time === "iso" ? null : dateRenderer(options);
  return {
    text: (text) => {
      // A text of JSON Schema with the format `date` may be any other, because formats are only annotations.
      const local = labelledDate.test(text) ? withoutLabel(text) : text;
      const infinity = infinityOf(local, infiniteDates);
      return infinity ?? (render === null ? local : renderDate(name, local, render));
    },
  };
}

export function isoTimeConversion(name: string, options: ResolvedValueOptions): Conversion {
  const render = options.time === "iso" ? null : clockRenderer(options);
  return {
    text: (text) => {
      const local = withoutLabel(text);
      return render === null ? local : renderTime(name, local, (second, nanos) => render(false, second, nanos));
    },
  };
}

export function isoTimestampConversion(name: string, options: ResolvedValueOptions): Conversion {
  const render = options.time === "iso" ? null : timestampRenderer(options);
  return {
    text: (text) => {
      const local = withoutLabel(text);
      const infinity = infinityOf(local, infiniteTimestamps);
      return infinity ?? (render === null ? local : renderTimestamp(name, local, render));
    },
  };
}

/** The infinity that a text stands for, or null. The first character rules out most texts, because such a far year has a sign. */
function infinityOf(text: string, written: ReadonlyMap<string, string>): string | null {
  const first = text.charCodeAt(0);
  if (first >= 0x30 && first <= 0x39) {
    return null;
  }
  return text === infinityText || text === negativeInfinityText ? text : (written.get(text) ?? null);
}

function withoutLabel(text: string): string {
  return text.charCodeAt(text.length - 1) === 0x5a ? text.slice(0, -1) : text;
}

function renderDate(name: string, text: string, render: RenderDate): unknown {
  const fields = isoDate.exec(text);
  const [year, month, day] = [Number(fields?.[1]), Number(fields?.[2]), Number(fields?.[3])];
  if (!isOnCalendar(year, month, day)) {
    throw valueInvalid(name, "an ISO date", "other text");
  }
  return render(daysOf(year, month, day));
}

function renderTime<Value>(name: string, text: string, render: (second: number, nanos: number) => Value): Value {
  const fields = isoTime.exec(text);
  if (fields === null) {
    throw valueInvalid(name, "an ISO time", "other text");
  }
  const second = (Number(fields[1]) * 60 + Number(fields[2])) * 60 + Number(fields[3] ?? 0);
  return render(second, Number((fields[4] ?? "").padEnd(9, "0")));
}

function renderTimestamp(name: string, text: string, render: RenderTimestamp): unknown {
  const timeAt = text.indexOf("T");
  const days = renderDate(name, text.slice(0, Math.max(timeAt, 0)), (day) => day) as number; // the given renderer returns its argument
  return renderTime(name, text.slice(timeAt + 1), (second, nanos) => render(days, second, nanos));
}
