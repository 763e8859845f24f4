import { Cursor, readEnd, readInt32, readTag, skipField, wire } from "./cursor.ts";
import {
  type Features,
  invalidProto,
  maxNesting,
  type PartCount,
  type ProtoEnum,
  type ProtoExtension,
  type ProtoField,
  type ProtoFile,
  type ProtoMessage,
} from "./file.ts";
import { limitDefaults } from "../../options.ts";
import { readText } from "../utf8-text.ts";
import { unescapeText } from "./tokens.ts";

/**
 * Parses a file's descriptor: the bytes of a `google.protobuf.FileDescriptorProto`, which some registries give (as base64) in place of the
 * text. The numbers of its fields are those of `google/protobuf/descriptor.proto`.
 */
export function parseDescriptor(bytes: Uint8Array, count: PartCount): ProtoFile {
  const file = new Fields(bytes, count);
  const syntax = file.text(12) ?? "proto2";
  if (syntax !== "proto2" && syntax !== "proto3" && syntax !== "editions") {
    throw invalidProto("expected a descriptor of proto2, proto3 or editions, found another syntax");
  }
  return {
    package: file.text(2) ?? "",
    syntax,
    features: featuresOf(file.part(8), 50),
    messages: file.parts(4).map((message) => messageOf(message, 1)),
    enums: file.parts(5).map(enumOf),
    extensions: file.parts(7).map(extensionOf),
  };
}

function messageOf(message: Fields, nesting: number): ProtoMessage {
  if (nesting > maxNesting) {
    throw invalidProto(`messages are nested deeper than ${maxNesting}`);
  }
  message.count.addMessage();
  const options = message.part(7);
  return {
    name: message.text(1) ?? "",
    fields: message.parts(2).map(fieldOf),
    messages: message.parts(3).map((nested) => messageOf(nested, nesting + 1)),
    enums: message.parts(4).map(enumOf),
    extensions: message.parts(6).map(extensionOf),
    isMapEntry: options?.number(7) === 1,
    features: featuresOf(options, 12),
  };
}

const labels: readonly ProtoField["label"][] = [null, "optional", "required", "repeated"];
const groupType = 10;
const bytesType = 12;
const types: ReadonlyMap<number, string> = new Map(
  // biome-ignore format: the index is the type's number
  ["double", "float", "int64", "uint64", "int32", "fixed64", "fixed32", "bool", "string", "", "", "bytes", "uint32", "", "sfixed32",
    "sfixed64", "sint32", "sint64"].map((name, i) => [i + 1, name]),
);

function fieldOf(field: Fields): ProtoField {
  field.count.add();
  const type = field.number(5) ?? 0;
  const scalar = types.get(type) ?? "";
  const options = field.part(8);
  const isOptional = field.number(17) === 1; // proto3_optional: protoc puts such a field into a oneof of its own
  const declared = field.text(7);
  return {
    name: field.text(1) ?? "",
    number: field.number(3) ?? 0,
    label: isOptional ? "optional" : field.number(4) === 1 ? null : (labels[field.number(4) ?? 1] ?? null),
    type: scalar === "" ? (field.text(6) ?? "") : scalar,
    isGroup: type === groupType,
    oneof: isOptional ? -1 : (field.number(9) ?? -1),
    default: declared === null ? null : type === bytesType ? unescapeText(declared) : Buffer.from(declared, "utf8").toString("latin1"),
    features: featuresOf(options, 21),
    params: paramsOf(options),
  };
}

function extensionOf(field: Fields): ProtoExtension {
  return { extended: field.text(2) ?? "", field: fieldOf(field) };
}

function enumOf(node: Fields): ProtoEnum {
  node.count.add();
  const values = node.parts(2).map((value) => {
    node.count.add();
    return { name: value.text(1) ?? "", number: value.number(2) ?? 0 };
  });
  return { name: node.text(1) ?? "", values };
}

const presences = ["", "EXPLICIT", "IMPLICIT", "LEGACY_REQUIRED"];
const encodings = ["", "LENGTH_PREFIXED", "DELIMITED"];

function featuresOf(options: Fields | null, number: number): Features {
  const features = options?.part(number) ?? null;
  const presence = presences[features?.number(1) ?? 0];
  const encoding = encodings[features?.number(5) ?? 0];
  return { ...(presence ? { presence } : {}), ...(encoding ? { encoding } : {}) };
}

/** The extension `confluent.field_meta`. */
const metaNumber = 1_088;

function paramsOf(options: Fields | null): ReadonlyMap<string, string> {
  const pairs = options?.part(metaNumber)?.parts(2) ?? [];
  return new Map(pairs.map((pair) => [pair.text(1) ?? "", pair.text(2) ?? ""]));
}

type Content = number | { readonly start: number; readonly end: number };

/** The fields of one message, by number. */
class Fields {
  readonly count: PartCount;
  readonly #bytes: Uint8Array;
  readonly #contents = new Map<number, Content[]>();

  constructor(bytes: Uint8Array, count: PartCount, start = 0, end: number = bytes.length) {
    this.count = count;
    this.#bytes = bytes;
    for (let p = start; p < end; ) {
      const tag = readTag(at, bytes, p, end);
      p = this.#keep(tag, at.p, end);
    }
  }

  number(number: number): number | null {
    const last = this.#contents.get(number)?.at(-1);
    return typeof last === "number" ? last : null;
  }

  text(number: number): string | null {
    const last = this.#contents.get(number)?.at(-1);
    return typeof last === "object" ? readText(this.#bytes, last.start, last.end) : null;
  }

  parts(number: number): readonly Fields[] {
    const contents = this.#contents.get(number) ?? [];
    return contents.flatMap((content) =>
      typeof content === "object" ? [new Fields(this.#bytes, this.count, content.start, content.end)] : [],
    );
  }

  part(number: number): Fields | null {
    return this.parts(number).at(-1) ?? null;
  }

  #keep(tag: number, p: number, end: number): number {
    if ((tag & 7) === wire.varint) {
      this.#push(tag >>> 3, readInt32(at, this.#bytes, p, end));
      return at.p;
    }
    if ((tag & 7) === wire.length) {
      const behind = readEnd(at, this.#bytes, p, end);
      this.#push(tag >>> 3, { start: at.p, end: behind });
      return behind;
    }
    return skipField(at, this.#bytes, p, end, tag);
  }

  #push(number: number, content: Content): void {
    const contents = this.#contents.get(number);
    if (contents === undefined) {
      this.#contents.set(number, [content]);
    } else {
      contents.push(content);
    }
  }
}

const at = new Cursor({ maxDepth: maxNesting, maxCostPerByte: limitDefaults.maxCostPerByte });
at.maxCost = Number.POSITIVE_INFINITY; // `limits.maxSchemaChars` bounds what the groups of options cost
