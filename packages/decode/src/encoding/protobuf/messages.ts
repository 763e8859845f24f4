import type { Semantic } from "../../values/conversion.ts";
import { invalidProto, type ProtoEnum, type ProtoField, type ProtoMessage, shownName } from "./file.ts";
import { join, type Named, type Names, type Place } from "./names.ts";
import { textOfBytes } from "./tokens.ts";

/** A message with all names resolved. A message may contain itself. */
export interface Message {
  readonly fullName: string;
  /** In the order of their declaration. */
  readonly fields: readonly MessageField[];
  /** Whether the message is one that every schema may use without bringing it. */
  readonly isBuiltIn: boolean;
}

export type ScalarName =
  | "double"
  | "float"
  | "int32"
  | "int64"
  | "uint32"
  | "uint64"
  | "sint32"
  | "sint64"
  | "fixed32"
  | "fixed64"
  | "sfixed32"
  | "sfixed64"
  | "bool"
  | "string"
  | "bytes";

export type FieldType =
  | { readonly kind: ScalarName }
  | { readonly kind: "enum"; readonly symbols: readonly string[]; readonly names: ReadonlyMap<number, string> }
  | { readonly kind: "message"; readonly message: Message; readonly isGroup: boolean };

export interface MessageField {
  readonly name: string;
  readonly number: number;
  readonly type: FieldType;
  readonly cardinality: "single" | "repeated" | "map";
  /** Whether an absent value differs from the type's zero. */
  readonly hasPresence: boolean;
  readonly isRequired: boolean;
  /** The number of the field's oneof in its message; -1 if it is in none. */
  readonly oneof: number;
  /** The value of an absent field if that is not null: a number, a bigint, a text, a boolean, bytes. Undefined if it is null. */
  readonly absent: unknown;
  readonly semantic: Semantic | null;
  /** What the writer of the schema noted on the field. */
  readonly parameters: Readonly<Record<string, string>>;
}

const scalarNames: readonly ScalarName[] = [
  "double",
  "float",
  "int32",
  "int64",
  "uint32",
  "uint64",
  "sint32",
  "sint64",
  "fixed32",
  "fixed64",
  "sfixed32",
  "sfixed64",
  "bool",
  "string",
  "bytes",
];
const scalarTypes: ReadonlyMap<string, FieldType> = new Map(scalarNames.map((kind) => [kind, { kind }]));

const maxFieldNumber = 2 ** 29 - 1;

/** Resolves messages, each once, together with all that they refer to. */
export class Resolver {
  readonly #names: Names;
  readonly #messages = new Map<ProtoMessage, Message>();
  readonly #enums = new Map<ProtoEnum, FieldType>();
  readonly #waiting: (() => void)[] = [];

  constructor(names: Names) {
    this.#names = names;
  }

  message(named: Named & { readonly kind: "message" }): Message {
    const message = this.#shell(named);
    // Not by recursion: a chain of a hundred thousand messages would overflow the stack.
    for (let fill = this.#waiting.pop(); fill !== undefined; fill = this.#waiting.pop()) {
      fill();
    }
    return message;
  }

  #shell({ fullName, message: node, place }: Named & { readonly kind: "message" }): Message {
    const known = this.#messages.get(node);
    if (known !== undefined) {
      return known;
    }
    const fields: MessageField[] = []; // filled later, because the message may contain itself
    const message: Message = { fullName, fields, isBuiltIn: place.isBuiltIn };
    this.#messages.set(node, message);
    this.#waiting.push(() => {
      checkFields(node, fullName);
      const inside: Place = node.isMapEntry ? { ...place, syntax: "proto3" } : place; // an absent key or value is the type's zero in every syntax
      for (const field of node.fields) {
        fields.push(this.#field(field, fullName, inside));
      }
      this.#extend(fields, node);
    });
    return message;
  }

  /** Adds the extensions of a message. A file that comes twice declares its extensions twice: the first one of a number counts. */
  #extend(fields: MessageField[], node: ProtoMessage): void {
    const numbers = new Set(fields.map(({ number }) => number));
    for (const { scope, field, place } of this.#names.extensionsOf(node)) {
      if (!numbers.has(field.number)) {
        checkNumber(field, scope);
        numbers.add(field.number);
        fields.push(this.#extension(field, scope, place));
      }
    }
  }

  /** An extension as a field. Its name is that of Google's JSON mapping, and absent always differs from zero. */
  #extension(field: ProtoField, scope: string, place: Place): MessageField {
    const own: ProtoField = { ...field, label: field.label ?? "optional", features: { ...field.features, presence: "EXPLICIT" } };
    return { ...this.#field(own, scope, place), name: `[${join(scope, field.name)}]` };
  }

  #field(field: ProtoField, scope: string, place: Place): MessageField {
    const presence = field.features.presence ?? place.features.presence;
    const encoding = field.features.encoding ?? place.features.encoding;
    const scalar = scalarTypes.get(field.type);
    const named = scalar === undefined ? this.#names.find(field.type, scope) : null;
    const isEntry = isMapEntry(named); // the pairs of a map are never groups, even if the file chooses DELIMITED
    const type = scalar ?? this.#type(this.#names.find(field.type, scope), field.isGroup || (isDelimited(place, encoding) && !isEntry));
    const isRequired = field.label === "required" || (place.syntax === "editions" && presence === "LEGACY_REQUIRED");
    const isSingle = field.label !== "repeated";
    const hasPresence = isSingle && (type.kind === "message" || field.oneof >= 0 || isRequired || hasOwnPresence(field, place, presence));
    return {
      name: field.name,
      number: field.number,
      type,
      cardinality: isSingle ? "single" : isEntry ? "map" : "repeated",
      hasPresence,
      isRequired: isSingle && isRequired,
      oneof: field.oneof,
      absent: isSingle ? absentValue(field, type, hasPresence) : undefined,
      semantic: semanticOf(field),
      parameters: Object.fromEntries(field.params),
    };
  }

  #type(named: Named, isGroup: boolean): FieldType {
    if (named.kind === "message") {
      return { kind: "message", message: this.#shell(named), isGroup };
    }
    const known = this.#enums.get(named.enum);
    if (known !== undefined) {
      return known;
    }
    const names = new Map<number, string>();
    for (const { name, number } of named.enum.values) {
      if (!names.has(number)) {
        names.set(number, name); // the first name of a number: the others are aliases
      }
    }
    const type: FieldType = { kind: "enum", symbols: named.enum.values.map(({ name }) => name), names };
    this.#enums.set(named.enum, type);
    return type;
  }
}

function isMapEntry(named: Named | null): boolean {
  return named?.kind === "message" && (named.message.isMapEntry || looksLikeMapEntry(named.message));
}

function checkFields(node: ProtoMessage, fullName: string): void {
  const names = new Set<string>();
  const numbers = new Set<number>();
  for (const field of node.fields) {
    const { name, number } = field;
    checkNumber(field, fullName);
    if (names.has(name) || numbers.has(number)) {
      throw invalidProto(`${shownName(fullName)} has two fields with the name ${shownName(name)} or the number ${number}`);
    }
    names.add(name);
    numbers.add(number);
  }
}

function checkNumber({ name, number }: ProtoField, fullName: string): void {
  if (!Number.isInteger(number) || number < 1 || number > maxFieldNumber) {
    throw invalidProto(
      `field ${shownName(name)} of ${shownName(fullName)} has a number that is not allowed; field numbers are integers from 1 to ${maxFieldNumber}`,
    );
  }
}

/**
 * Confluent's converter counts Connect's maps that have no name. A message with any other name may be a list of pairs in which keys repeat,
 * so it stays a list.
 */
const namedByConverter = /^ConnectDefault\d+Entry$/;

/** Confluent's converter writes Connect's maps as repeated messages without the option `map_entry`, and knows them by their names. */
function looksLikeMapEntry({ name, fields }: ProtoMessage): boolean {
  return (
    namedByConverter.test(name) &&
    fields.length === 2 &&
    fields[0]?.name === "key" &&
    fields[1]?.name === "value" &&
    fields.every((field, i) => field.label !== "repeated" && field.number === i + 1)
  );
}

function isDelimited(place: Place, encoding: string | undefined): boolean {
  return place.syntax === "editions" && encoding === "DELIMITED";
}

function hasOwnPresence(field: ProtoField, { syntax }: Place, presence: string | undefined): boolean {
  if (syntax === "editions") {
    return presence !== "IMPLICIT";
  }
  return syntax === "proto2" || field.label === "optional";
}

/**
 * The value of an absent field: the type's zero if the field has no presence, the default if the schema declares one, otherwise null. In a
 * oneof it is always null: a default would look like the field that is set.
 */
function absentValue(field: ProtoField, type: FieldType, hasPresence: boolean): unknown {
  if (type.kind === "message" || field.oneof >= 0 || (hasPresence && field.default === null)) {
    return undefined;
  }
  const declared = field.default;
  switch (type.kind) {
    case "string":
      return textOfBytes(declared ?? "");
    case "bytes":
      return Buffer.from(declared ?? "", "latin1");
    case "bool":
      return declared === "true";
    case "double":
    case "float":
      return floatOf(declared ?? "0", type.kind);
    case "enum":
      return declared ?? type.names.get(0) ?? 0;
    default:
      return declared === null ? 0 : integerOf(declared);
  }
}

function floatOf(text: string, kind: "double" | "float"): number {
  const sign = text.startsWith("-") ? -1 : 1;
  const magnitude = text.replace(/^-/, "");
  const value = magnitude === "inf" ? Number.POSITIVE_INFINITY : magnitude === "nan" ? Number.NaN : numberOf(magnitude);
  return kind === "float" ? Math.fround(sign * value) : sign * value;
}

function numberOf(magnitude: string): number {
  return isOctal.test(magnitude) || isHexadecimal.test(magnitude) ? Number(integerOf(magnitude)) : Number(magnitude.replace(/f$/i, ""));
}

const isOctal = /^0[0-7]+$/;
const isHexadecimal = /^0x/i;

function integerOf(text: string): number | bigint {
  const digits = /^(-?)(0x[0-9a-f]{1,16}|\d{1,23})$/i.exec(text);
  if (digits === null) {
    throw invalidProto(`expected an integer as a default, found ${shownName(text)}`);
  }
  const [, sign, magnitude = ""] = digits;
  const value = BigInt(isOctal.test(magnitude) ? `0o${magnitude.slice(1)}` : magnitude) * (sign === "-" ? -1n : 1n);
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}

/** What the field means, if the schema names its Connect type. */
function semanticOf({ params }: ProtoField): Semantic | null {
  const name = params.get("connect.name");
  if (name === undefined) {
    return null;
  }
  const parameters: [string, string][] = [...params].filter(([key]) => key !== "connect.name" && key !== "connect.type");
  return { name, parameters: Object.fromEntries(parameters) };
}
