import protobuf from "protobufjs";
import type { Codec } from "../codec.ts";
import { protoFileOf, type RecordShape, type Shape } from "../shape.ts";

/** Protobuf by protobufjs, with every field in the object that it reads; null if the shape has no Protobuf form. */
export function protobufCodec<T>(shape: RecordShape): Codec<T> | null {
  const file = protoFileOf(shape);
  if (file === null) {
    return null;
  }
  const type = protobuf.parse(file, { keepCase: true }).root.lookupType(shape.name);
  const fillNulls = nullFiller(shape);
  return {
    name: "protobuf (protobufjs)",
    serialize: (value) => type.encode(type.fromObject(value as Record<string, unknown>)).finish(),
    deserialize(bytes) {
      const value = type.toObject(type.decode(bytes), { longs: Number, defaults: true, arrays: true });
      fillNulls?.(value);
      return value as T;
    },
  };
}

type Filler = (value: Record<string, unknown>) => void;

/** Sets optional fields that are absent to null, as the row has them: protobufjs leaves them out. Null if the shape has no such field. */
function nullFiller(shape: RecordShape): Filler | null {
  const fillers: Filler[] = [];
  for (const { name, shape: type, nullable } of shape.fields) {
    if (nullable) {
      fillers.push((value) => {
        value[name] ??= null;
      });
    }
    const inner = recordIn(type);
    const fillInner = inner === null ? null : nullFiller(inner);
    if (fillInner !== null) {
      fillers.push((value) => {
        for (const item of [value[name]].flat()) {
          if (item !== null) {
            fillInner(item as Record<string, unknown>);
          }
        }
      });
    }
  }
  return fillers.length === 0 ? null : (value) => fillers.forEach((fill) => fill(value));
}

function recordIn(shape: Shape): RecordShape | null {
  return shape.kind === "list" ? recordIn(shape.items) : shape.kind === "record" ? shape : null;
}
