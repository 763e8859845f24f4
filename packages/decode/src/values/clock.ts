import { fractionText, integerText, twoDigits } from "./digits.ts";

/**
 * A count of seconds as `HH:MM:SS` and the fraction without trailing zeros. The count is 0 or more. Hours above 99 take as many digits as
 * they need.
 */
export function clockText(second: number, nanos: number): string {
  const hour = Math.floor(second / 3600);
  const ofHour = second - hour * 3600;
  if (hour > 99) {
    return integerText(hour) + minutesText(ofHour) + fractionText(nanos, 9);
  }
  const minute = (ofHour / 60) | 0;
  const sec = ofHour - minute * 60;
  const h = (hour / 10) | 0;
  const mi = (minute / 10) | 0;
  const s = (sec / 10) | 0;
  const milli = (nanos / 1_000_000) | 0;
  const micro = ((nanos - milli * 1_000_000) / 1000) | 0;
  const u = micro % 10;
  if (u !== 0 && nanos === milli * 1_000_000 + micro * 1000) {
    const m1 = (milli / 100) | 0;
    const m2 = ((milli - m1 * 100) / 10) | 0;
    const u1 = (micro / 100) | 0;
    const u2 = ((micro - u1 * 100) / 10) | 0;
    // biome-ignore format: one line a part of the text
    return String.fromCharCode(
      48 + h, 48 + hour - h * 10, 58, 48 + mi, 48 + minute - mi * 10, 58, 48 + s, 48 + sec - s * 10,
      46, 48 + m1, 48 + m2, 48 + milli - m1 * 100 - m2 * 10, 48 + u1, 48 + u2, 48 + u,
    );
  }
  return twoDigits(hour) + minutesText(ofHour) + fractionText(nanos, 9);
}

/** An offset from UTC as `+01:00`, `-05:30:15` or `Z`. */
export function offsetText(offsetSeconds: number): string {
  if (offsetSeconds === 0) {
    return "Z";
  }
  const text = clockText(Math.abs(offsetSeconds), 0);
  return (offsetSeconds < 0 ? "-" : "+") + (text.endsWith(":00") ? text.slice(0, -3) : text);
}

function minutesText(ofHour: number): string {
  const minute = (ofHour / 60) | 0;
  return `:${twoDigits(minute)}:${twoDigits(ofHour - minute * 60)}`;
}
