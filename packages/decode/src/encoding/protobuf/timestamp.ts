import type { ResolvedValueOptions } from "../../options.ts";
import { secondsPerDay } from "../../values/calendar.ts";
import { instantRenderer } from "../../values/moment.ts";
import { valueInvalid } from "../../values/value-invalid.ts";
import { readInt32, readInt64, readTag, skipField } from "./cursor.ts";
import type { ReadInPlace } from "./read-instructions.ts";
import { addCost, costOf } from "./cost.ts";
import { timestampName } from "./well-known.ts";

/** `int64 seconds = 1; int32 nanos = 2`. It is read without an object in between, because rows have several timestamps. */
const secondsTag = 0x08;
const nanosTag = 0x10;
const maxNanos = 999_999_999;

/** Makes the reader of a `google.protobuf.Timestamp`, which becomes an instant. */
export function timestampReader(options: ResolvedValueOptions): ReadInPlace {
  const render = instantRenderer(options);
  return (at, b, p, e) => {
    let seconds: number | bigint = 0;
    let nanos = 0;
    while (p < e) {
      const tag = readTag(at, b, p, e);
      p = at.p;
      if (tag === secondsTag) {
        seconds = readInt64(at, b, p, e);
        p = at.p;
      } else if (tag === nanosTag) {
        nanos = readInt32(at, b, p, e);
        p = at.p;
      } else {
        p = skipField(at, b, p, e, tag);
      }
    }
    if (typeof seconds !== "number" || nanos < 0 || nanos > maxNanos) {
      throw valueInvalid(timestampName, `seconds that a double holds and nanos from 0 to ${maxNanos}`, "values out of this range");
    }
    addCost(at, costOf.text);
    const days = Math.floor(seconds / secondsPerDay);
    return render(days, seconds - days * secondsPerDay, nanos);
  };
}
