import type { ResolvedValueOptions } from "../../options.ts";
import { decimalConversion, variableScaleDecimalConversion } from "../../values/decimal.ts";
import { isScale } from "../../values/decimal-text.ts";
import { type Cursor, readEnd, readInt32, readTag, skipField } from "./cursor.ts";
import type { ReadInPlace } from "./read-instructions.ts";
import { addCost, addConversionCost } from "./cost.ts";
import { decimalName } from "./well-known.ts";

type ConvertUnscaled = (bytes: Uint8Array, start: number, end: number, at: Cursor) => unknown;

/**
 * `bytes value = 1; uint32 precision = 2; int32 scale = 3`. It is read without an object and a Buffer in between, because rows have several
 * decimals.
 */
const valueTag = 0x0a;
const scaleTag = 0x18;
const noBytes = new Uint8Array(0);
/** At most so many scales are remembered. A table's columns have a few; a hostile message may have all of them. */
const maxScales = 32;
const furtherScaleCost = 750;

/** Reads a `confluent.type.Decimal`. */
export function decimalReader(options: ResolvedValueOptions): ReadInPlace {
  const byScale = new Map<number, ConvertUnscaled>();
  const any = variableScaleDecimalConversion(decimalName, options);
  const conversionAt = (scale: number): ConvertUnscaled => {
    const known = byScale.get(scale);
    if (known !== undefined) {
      return known;
    }
    const fresh = isScale(scale) && byScale.size < maxScales ? decimalConversion(decimalName, scale, options).bytes : undefined;
    if (fresh === undefined) {
      return (bytes, start, end, at) => {
        addCost(at, furtherScaleCost);
        return any.struct?.({ scale, value: bytes.subarray(start, end) });
      };
    }
    byScale.set(scale, fresh);
    return fresh;
  };
  let lastScale = 0;
  let last = conversionAt(0);
  return (at, b, p, e) => {
    let start = 0;
    let end = -1;
    let scale = 0;
    while (p < e) {
      const tag = readTag(at, b, p, e);
      p = at.p;
      if (tag === valueTag) {
        end = readEnd(at, b, p, e);
        start = at.p;
        p = end;
      } else if (tag === scaleTag) {
        scale = readInt32(at, b, p, e);
        p = at.p;
      } else {
        p = skipField(at, b, p, e, tag);
      }
    }
    if (scale !== lastScale) {
      last = conversionAt(scale);
      lastScale = scale;
    }
    addConversionCost(at, end < 0 ? 0 : end - start);
    return end < 0 ? last(noBytes, 0, 0, at) : last(b, start, end, at);
  };
}
