import type { Framing } from "../framing.ts";

const magic: Buffer = Buffer.of(0xc3, 0x01);
const frameLength = 10;

/**
 * Avro's single-object encoding: `C3 01 | CRC-64-AVRO of the schema's parsing canonical form, 8 bytes, little-endian | payload`.
 * https://avro.apache.org/docs/1.12.0/specification/#single-object-encoding
 */
export const singleObject: Framing = {
  name: "single-object",
  headerNames: [],
  recognise: ({ bytes, start, end }) =>
    end - start >= frameLength && bytes[start] === magic[0] && bytes[start + 1] === magic[1]
      ? `bytes C3 01, then the fingerprint ${fingerprintAt(bytes, start + 2)}`
      : null,
  open: ({ bytes, start, end }) => ({
    schemaId: `fingerprint:${fingerprintAt(bytes, start + 2)}`,
    payloads: [{ bytes, start: start + frameLength, end, count: 1 }],
  }),
  prefixes: [magic],
};

/** The fingerprint as hexadecimal digits of a number: the last byte comes first. */
function fingerprintAt(bytes: Buffer, at: number): string {
  return bytes.readBigUInt64LE(at).toString(16).padStart(16, "0");
}
