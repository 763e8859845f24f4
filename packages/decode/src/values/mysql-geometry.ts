const sridSize = 4;
/** The byte order and the type, with which every WKB begins. */
const wkbHeadSize = 5;
/** A point of two coordinates. */
const pointSize = wkbHeadSize + 16;
/** WKB's types, from a point to a collection. */
const maxType = 7;

interface Geometry {
  readonly wkb: Buffer;
  readonly srid: number | null;
}

/**
 * A geometry from the bytes that MySQL stores, one character for each: the SRID, lowest byte first, and then WKB. The result has the form of
 * Debezium's geometries, whose SRID is null in place of 0. Other text, such as WKT, stays as it is.
 */
export function mysqlGeometry(text: string): unknown {
  return storedGeometry(text) ?? text;
}

/** A point from the same bytes, with its coordinates. */
export function mysqlPoint(text: string): unknown {
  const geometry = storedGeometry(text);
  if (geometry === null || geometry.wkb.length !== pointSize) {
    return geometry ?? text;
  }
  const { wkb, srid } = geometry;
  const [x, y] = wkb[0] === 1 ? [wkb.readDoubleLE(5), wkb.readDoubleLE(13)] : [wkb.readDoubleBE(5), wkb.readDoubleBE(13)];
  return { x, y, srid, wkb };
}

function storedGeometry(text: string): Geometry | null {
  const bytes = Buffer.from(text, "latin1");
  const isComplete = bytes.length >= sridSize + wkbHeadSize && bytes.toString("latin1") === text;
  const order = isComplete ? bytes[sridSize] : undefined;
  if (order !== 0 && order !== 1) {
    return null;
  }
  const wkb = bytes.subarray(sridSize);
  const type = order === 1 ? wkb.readUInt32LE(1) : wkb.readUInt32BE(1);
  return type === 0 || type > maxType ? null : { wkb, srid: bytes.readInt32LE(0) || null };
}
