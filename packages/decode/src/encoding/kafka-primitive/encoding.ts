import { DecodeError } from "../../errors.ts";
import { hexText } from "../../values/bytes-text.ts";
import { uuidText } from "../../values/uuid.ts";
import type { PlainEncoding } from "../schema-encoding.ts";
import type { Type } from "../type.ts";
import { topicOption } from "../../topic-option.ts";

/**
 * What Kafka's own serializers write for numbers: the bytes of the number, the highest one first, without a frame. A topic must name them,
 * because any eight bytes are a number. Kafka's serializer for UUIDs writes text; some keys have the sixteen bytes, so these can be read
 * too.
 */
export const kafkaPrimitives: readonly PlainEncoding[] = [
  primitive("int16", 2, { kind: "int" }, (bytes, at) => bytes.readInt16BE(at)),
  primitive("int32", 4, { kind: "int" }, (bytes, at) => bytes.readInt32BE(at)),
  primitive("int64", 8, { kind: "long" }, (bytes, at) => safeOrBig(bytes.readBigInt64BE(at))),
  primitive("float32", 4, { kind: "float" }, (bytes, at) => bytes.readFloatBE(at)),
  primitive("float64", 8, { kind: "double" }, (bytes, at) => bytes.readDoubleBE(at)),
  primitive("uuid", 16, { kind: "string" }, (bytes, at) => uuidText(hexText(bytes, at, at + 16))),
];

function primitive(name: string, length: number, type: Type, read: (bytes: Buffer, at: number) => unknown): PlainEncoding {
  return {
    name,
    type,
    parse: (bytes, start, end) => {
      if (end - start !== length) {
        throw new DecodeError(
          end - start < length ? "truncated" : "trailing-bytes",
          `expected the ${length} bytes of ${name}, which the hint of this topic names, found ${end - start}; check ${topicOption("value.encoding")}, or key.encoding`,
        );
      }
      return read(bytes, start);
    },
  };
}

function safeOrBig(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
