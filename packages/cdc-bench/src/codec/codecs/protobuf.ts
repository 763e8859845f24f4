import protobuf from "protobufjs";
import type { Codec } from "../codec.ts";
import { protoFileOf, type RecordShape } from "../shape.ts";

/** Protobuf by protobufjs, with every field in the object that it reads; null if the shape has no Protobuf form. */
export function protobufCodec<T>(shape: RecordShape): Codec<T> | null {
  const file = protoFileOf(shape);
  if (file === null) {
    return null;
  }
  const type = protobuf.parse(file, { keepCase: true }).root.lookupType(shape.name);
  return {
    name: "protobuf (protobufjs)",
    serialize: (value) => type.encode(type.fromObject(value as Record<string, unknown>)).finish(),
    deserialize: (bytes) => type.toObject(type.decode(bytes), { longs: Number, defaults: true, arrays: true }) as T,
  };
}
