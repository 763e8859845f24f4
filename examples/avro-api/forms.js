// The forms of a body, and what it may be compressed with. Server and client use the same.
import { once } from "node:events";
import { Readable } from "node:stream";
import { promisify } from "node:util";
import { brotliCompress, constants, createBrotliDecompress, createGunzip, gzip } from "node:zlib";
import avro from "avsc";

/**
 * @typedef {object} Form
 * @property {(rows: readonly unknown[]) => Promise<Buffer>} write
 * @property {(bytes: Buffer) => Promise<unknown[]>} read
 */

/**
 * By media type. Avro is a container file: it has its schema in it, so that a reader needs nothing else.
 * @param {import("avsc").Schema} schema
 * @returns {Readonly<Record<string, Form>>}
 */
export function formsOf(schema) {
  const type = avro.Type.forSchema(schema);
  return {
    "application/json": {
      write: async (rows) => Buffer.from(JSON.stringify(rows)),
      read: async (bytes) => checked(type, JSON.parse(bytes.toString())),
    },
    "application/avro": { write: (rows) => writeFile(type, rows), read: async (bytes) => checked(type, await readFile(bytes)) },
  };
}

/** @param {import("avsc").Type} type @param {readonly unknown[]} rows @returns {Promise<Buffer>} */
async function writeFile(type, rows) {
  const encoder = new avro.streams.BlockEncoder(/** @type {any} */ (type), { codec: "null" });
  /** @type {Buffer[]} */
  const chunks = [];
  encoder.on("data", (chunk) => chunks.push(chunk));
  for (const row of rows) encoder.write(row);
  encoder.end();
  await once(encoder, "end");
  return Buffer.concat(chunks);
}

/** @param {Buffer} bytes @returns {Promise<unknown[]>} */
async function readFile(bytes) {
  if (bytes.length < 4 || bytes.toString("latin1", 0, 4) !== "Obj\u0001") throw new TypeError("the body is no Avro container file");
  return Readable.from([bytes], { objectMode: false })
    .compose(/** @type {any} */ (new avro.streams.BlockDecoder()))
    .toArray();
}

/** Rows of this type, whoever sent them. @param {import("avsc").Type} type @param {unknown} rows @returns {unknown[]} */
function checked(type, rows) {
  if (!Array.isArray(rows)) throw new TypeError("expected a list of rows");
  const wrong = rows.findIndex((row) => !type.isValid(row));
  if (wrong >= 0) throw new TypeError(`row ${wrong} does not fit the schema`);
  return rows;
}

/**
 * By content coding, how bytes are compressed, and the stream that decompresses.
 * @type {Readonly<Record<string, { write(bytes: Buffer): Promise<Buffer>, reader(): import("node:stream").Duplex }>>}
 */
export const codings = {
  br: {
    // Quality 11, the default, is for files that are compressed once.
    write: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
    reader: () => createBrotliDecompress(),
  },
  gzip: { write: (bytes) => promisify(gzip)(bytes), reader: () => createGunzip() },
};
