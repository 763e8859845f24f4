interface Signature {
  readonly name: string;
  readonly bytes: readonly number[];
  readonly advice: string;
}

const decompress = "the producer compressed the value itself, beside Kafka's own compression: decompress it before decoding";
const setConverter = "set a JSON, Avro or Protobuf converter on the producer";

/** The first bytes of formats that cannot be decoded here. An error that names the format helps the user more than a wrong guess would. */
const signatures: readonly Signature[] = [
  { name: "gzip", bytes: [0x1f, 0x8b], advice: decompress },
  { name: "zstd", bytes: [0x28, 0xb5, 0x2f, 0xfd], advice: decompress },
  { name: "lz4", bytes: [0x04, 0x22, 0x4d, 0x18], advice: decompress },
  { name: "snappy (xerial)", bytes: [0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00], advice: decompress },
  { name: "snappy (framed)", bytes: [0xff, 0x06, 0x00, 0x00, 0x73, 0x4e, 0x61, 0x50, 0x70, 0x59], advice: decompress },
  { name: "bzip2", bytes: [0x42, 0x5a, 0x68], advice: decompress },
  { name: "xz", bytes: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00], advice: decompress },
  // The second byte holds the compression level. It also makes the first two bytes a multiple of 31.
  { name: "zlib", bytes: [0x78, 0x01], advice: decompress },
  { name: "zlib", bytes: [0x78, 0x5e], advice: decompress },
  { name: "zlib", bytes: [0x78, 0x9c], advice: decompress },
  { name: "zlib", bytes: [0x78, 0xda], advice: decompress },
  { name: "Java serialization", bytes: [0xac, 0xed, 0x00, 0x05], advice: "set a converter or serializer on the producer" },
  { name: "Smile", bytes: [0x3a, 0x29, 0x0a], advice: setConverter },
  { name: "self-described CBOR", bytes: [0xd9, 0xd9, 0xf7], advice: "name the encoding cbor for this topic" },
  { name: "Parquet", bytes: [0x50, 0x41, 0x52, 0x31], advice: setConverter },
  {
    name: "a struct as Connect's StringConverter writes it",
    bytes: [0x53, 0x74, 0x72, 0x75, 0x63, 0x74, 0x7b], // Struct{
    advice: "nobody can read its values back: set a JSON, Avro or Protobuf converter as the connector's value.converter",
  },
];

/** BSON's length field and its final zero byte. */
const minBsonBytes = 5;

/** The format that the first bytes name, with advice for the user; null if they name no known format. */
export function undecodableFormat(bytes: Buffer, start: number, end: number): string | null {
  for (const { name, bytes: magic, advice } of signatures) {
    if (end - start > magic.length && magic.every((byte, i) => bytes[start + i] === byte)) {
      return `${name} (${advice})`;
    }
  }
  const isBson = end - start >= minBsonBytes && bytes.readInt32LE(start) === end - start && bytes[end - 1] === 0;
  return isBson ? `BSON (${setConverter})` : null;
}
