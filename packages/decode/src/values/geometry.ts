import type { Conversion } from "./conversion.ts";
import type { Struct } from "./struct-field.ts";
import { shapeOf, valueInvalid } from "./value-invalid.ts";

/**
 * A geometry or a geography in the form of its source: WKB or EWKB. Additional fields of a type (whether a path is closed) are kept next to
 * it.
 */
export const geometryConversion: Conversion = Object.freeze({
  struct: (value: Struct): unknown => {
    const { wkb = null, srid = null, extensions = null } = value;
    return extensions === null ? { wkb, srid } : { wkb, srid, extensions };
  },
});

export const pointConversion: Conversion = Object.freeze({ struct: pointOf });

/** A circle, whose centre is a point. */
export function circleConversion(name: string): Conversion {
  return {
    struct: ({ center, radius = null }) => {
      if (typeof center !== "object" || center === null || Array.isArray(center)) {
        throw valueInvalid(name, "a point in its field center", shapeOf(center));
      }
      return { center: pointOf(center as Struct), radius }; // an object that is not a list is a struct's fields
    },
  };
}

/** An endless line: the coefficients of ax + by + c = 0. */
export const lineConversion: Conversion = Object.freeze({ struct: ({ a = null, b = null, c = null }: Struct): unknown => ({ a, b, c }) });

function pointOf({ x = null, y = null, srid = null, wkb = null }: Struct): unknown {
  return { x, y, srid, wkb };
}
