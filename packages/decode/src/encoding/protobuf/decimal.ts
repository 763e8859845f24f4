import type { ResolvedValueOptions } from "../../options.ts";
import { decimalConversion } from "../../values/decimal.ts";
import { isScale, leastScale, mostScale } from "../../values/decimal-text.ts";
import { valueInvalid } from "../../values/value-invalid.ts";
import { type Cursor, readEnd, readInt32, readTag, skipField } from "./cursor.ts";
import { decimalName } from "./well-known.ts";

/** Reads a `confluent.type.Decimal` in place. */
export type ReadDecimal = (at: Cursor, b: Uint8Array, p: number, e: number) => unknown;

type ConvertUnscaled = (bytes: Uint8Array, start: number, end: number) => unknown;

/** `bytes value = 1; uint32 precision = 2; int32 scale = 3`: no object and no Buffer on the way, as rows have several. */
const valueTag = 0x0a;
const scaleTag = 0x18;
const noBytes = new Uint8Array(0);

export function decimalReader(options: ResolvedValueOptions): ReadDecimal {
  let lastScale = 0;
  let last = conversionAt(0, options);
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
      last = conversionAt(scale, options);
      lastScale = scale;
    }
    return end < 0 ? last(noBytes, 0, 0) : last(b, start, end);
  };
}

function conversionAt(scale: number, options: ResolvedValueOptions): ConvertUnscaled {
  const convert = isScale(scale) ? decimalConversion(decimalName, scale, options).bytes : undefined;
  if (convert === undefined) {
    throw valueInvalid(decimalName, `a scale from ${leastScale} to ${mostScale}`, "another one");
  }
  return convert;
}
