const sridSize = 4;
/** The byte order and the type, with which every WKB begins. */
const wkbHeadSize = 5;
/** A point of two coordinates. */
const pointSize = wkbHeadSize + 16;
/** WKB's types, from a point to a collection. */
const maxType = 7;

/**
 * A geometry from the bytes that MySQL stores, one character for each: the SRID, lowest byte first, and then WKB. The result has the form of
 * Debezium's geometries, whose SRID is null in place of 0. Other text, such as WKT, stays as it is.
 */
export function mysqlGeometry(text: string): unknown {
  const bytes = Buffer.from(text, "latin1");
  const isComplete = bytes.length >= sridSize + wkbHeadSize && bytes.toString("latin1") === text;
  const order = isComplete ? bytes[sridSize] : undefined;
  if (order !== 0 && order !== 1) {
    return text;
  }
  const wkb = bytes.subarray(sridSize);
  const type = order === 1 ? wkb.readUInt32LE(1) : wkb.readUInt32BE(1);
  if (type === 0 || type > maxType) {
    return text;
  }
  const srid = bytes.readInt32LE(0) || null;
  return { wkb, srid };
}

/** A point from the same bytes, with its coordinates. */
export function mysqlPoint(text: string): unknown {
  const geometry = mysqlGeometry(text);
  const { wkb, srid } = geometry as { readonly wkb?: Buffer; readonly srid?: number | null }; // text has neither
  if (wkb?.length !== pointSize) {
    return geometry;
  }
  const [x, y] = wkb[0] === 1 ? [wkb.readDoubleLE(5), wkb.readDoubleLE(13)] : [wkb.readDoubleBE(5), wkb.readDoubleBE(13)];
  return { x, y, srid, wkb };
}
