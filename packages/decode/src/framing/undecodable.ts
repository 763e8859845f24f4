interface Signature {
  readonly name: string;
  readonly bytes: readonly number[];
  readonly advice: string;
}

const decompress = "the producer compressed the value itself, beside Kafka's own compression: decompress it before decoding";
const notYet = "this framing is not supported yet";

/** First bytes that name a format which cannot be decoded here. A name in the error is worth more than a guess. */
const signatures: readonly Signature[] = [
  { name: "gzip", bytes: [0x1f, 0x8b], advice: decompress },
  { name: "zstd", bytes: [0x28, 0xb5, 0x2f, 0xfd], advice: decompress },
  { name: "lz4", bytes: [0x04, 0x22, 0x4d, 0x18], advice: decompress },
  { name: "snappy (xerial)", bytes: [0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00], advice: decompress },
  { name: "Java serialization", bytes: [0xac, 0xed, 0x00, 0x05], advice: "set a converter or serializer on the producer" },
  { name: "an Avro container file", bytes: [0x4f, 0x62, 0x6a, 0x01], advice: notYet },
  { name: "Avro single-object encoding", bytes: [0xc3, 0x01], advice: notYet },
  { name: "AWS Glue framing", bytes: [0x03, 0x00], advice: notYet },
  { name: "AWS Glue framing with zlib", bytes: [0x03, 0x05], advice: notYet },
  { name: "Smile", bytes: [0x3a, 0x29, 0x0a], advice: "set a JSON, Avro or Protobuf converter on the producer" },
  { name: "self-described CBOR", bytes: [0xd9, 0xd9, 0xf7], advice: "set a JSON, Avro or Protobuf converter on the producer" },
];

/** A sentence about what the bytes are, where their beginning names it; null else. */
export function undecodableFormat(bytes: Uint8Array, start: number, end: number): string | null {
  for (const { name, bytes: magic, advice } of signatures) {
    if (end - start > magic.length && magic.every((byte, i) => bytes[start + i] === byte)) {
      return `${name} (${advice})`;
    }
  }
  // Confluent's second version: 01 and a 16-byte GUID.
  return end - start > 17 && bytes[start] === 0x01 ? `perhaps Confluent framing with a GUID (${notYet})` : null;
}
