import type { Semantic } from "../../values/conversion.ts";
import { type Field, fieldOf, type PrimitiveType, type RecordType, type Type } from "../type.ts";
import type { FieldType, Message, MessageField, ScalarName } from "./messages.ts";
import { isTimeOrDecimal, isWrapper } from "./well-known.ts";

/** Makes the types of messages, one for each message. The type of a message that contains itself contains itself. */
export class TypeBuilder {
  readonly #records = new Map<Message, RecordType>();
  readonly #waiting: (() => void)[] = [];

  typeOf(message: Message): Type {
    const type = this.#message(message);
    for (let fill = this.#waiting.pop(); fill !== undefined; fill = this.#waiting.pop()) {
      fill();
    }
    return type;
  }

  #message(message: Message): Type {
    const special = message.isBuiltIn ? this.#special(message) : null;
    return special ?? this.#record(message);
  }

  /** The types of Google's own messages that users do not see as records. */
  #special(message: Message): Type | null {
    if (isWrapper(message) && message.fields[0] !== undefined) {
      return this.#single(message.fields[0], null);
    }
    switch (message.fullName) {
      case "google.protobuf.Value":
        return { kind: "any" };
      case "google.protobuf.Struct":
        return { kind: "map", keys: null, values: { kind: "any" } };
      case "google.protobuf.ListValue":
        return { kind: "array", items: { kind: "any" } };
      case "google.protobuf.Any":
        return {
          kind: "record",
          name: message.fullName,
          fields: [
            { name: "typeUrl", type: { kind: "string" } },
            { name: "value", type: { kind: "any" } },
          ],
        };
      default:
        return null;
    }
  }

  #record(message: Message): RecordType {
    const known = this.#records.get(message);
    if (known !== undefined) {
      return known;
    }
    const fields: Field[] = []; // filled later, because the message may contain itself
    const semantic: Semantic = { name: message.fullName, parameters: {} };
    const record: RecordType = { kind: "record", name: message.fullName, fields, ...(isTimeOrDecimal(message) ? { semantic } : {}) };
    this.#records.set(message, record);
    this.#waiting.push(() => {
      for (const field of message.fields) {
        fields.push(fieldOf(field.name, this.#field(field), field.parameters));
      }
    });
    return record;
  }

  #field(field: MessageField): Type {
    if (field.cardinality === "repeated") {
      return { kind: "array", items: this.#single(field, null), ...withSemantic(field.semantic) };
    }
    if (field.cardinality === "map") {
      return this.#map(field);
    }
    const type = this.#single(field, field.semantic);
    return field.hasPresence && !field.isRequired && field.absent === undefined
      ? { kind: "union", branches: [{ kind: "null" }, type] }
      : type;
  }

  #map(field: MessageField): Type {
    const [key, value] = field.type.kind === "message" ? field.type.message.fields : [];
    const keys = key === undefined || key.type.kind === "string" ? null : this.#single(key, null);
    return {
      kind: "map",
      keys,
      values: value === undefined ? { kind: "any" } : this.#single(value, null),
      ...withSemantic(field.semantic),
    };
  }

  #single({ type }: MessageField, semantic: Semantic | null): Type {
    return type.kind === "message" ? this.#message(type.message) : { ...scalarType(type), ...withSemantic(semantic) };
  }
}

function withSemantic(semantic: Semantic | null): { readonly semantic?: Semantic } {
  return semantic === null ? {} : { semantic };
}

type ScalarType = PrimitiveType | (Type & { readonly kind: "enum" });

const kinds: Readonly<Record<ScalarName, "boolean" | "int" | "long" | "float" | "double" | "string" | "bytes">> = {
  double: "double",
  float: "float",
  int32: "int",
  sint32: "int",
  sfixed32: "int",
  uint32: "long",
  fixed32: "long",
  int64: "long",
  uint64: "long",
  sint64: "long",
  fixed64: "long",
  sfixed64: "long",
  bool: "boolean",
  string: "string",
  bytes: "bytes",
};

function scalarType(type: Exclude<FieldType, { kind: "message" }>): ScalarType {
  return type.kind === "enum" ? { kind: "enum", symbols: type.symbols } : { kind: kinds[type.kind] };
}
