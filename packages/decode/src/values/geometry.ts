import type { Conversion } from "./conversion.ts";
import { shapeOf, valueInvalid } from "./value-invalid.ts";

type Struct = Readonly<Record<string, unknown>>;

/** A geometry or a geography as its source wrote it: WKB or EWKB. What a type adds to that (whether a path is closed) is kept beside it. */
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
    struct: ({ center, radius }) => {
      if (typeof center !== "object" || center === null || Array.isArray(center)) {
        throw valueInvalid(name, "a point in its field center", shapeOf(center));
      }
      return { center: pointOf(center as Struct), radius }; // an object that is no list is a struct's fields
    },
  };
}

function pointOf({ x, y, srid = null, wkb = null }: Struct): unknown {
  return { x, y, srid, wkb };
}
