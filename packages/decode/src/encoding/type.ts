import type { Semantic } from "../values/conversion.ts";
import { type NativeColumn, propagatedColumn } from "../values/native-column.ts";

/**
 * The type of a value, independent of its schema language. Every encoding parses its own schema language into this type once, and compiles
 * its reader from it. Envelopes are recognised by it. Records may be recursive: they contain the same object again.
 */
export type Type =
  | PrimitiveType
  | AnyType
  | { readonly kind: "fixed"; readonly size: number; readonly semantic?: Semantic }
  | { readonly kind: "enum"; readonly symbols: readonly string[]; readonly semantic?: Semantic }
  | { readonly kind: "array"; readonly items: Type; readonly semantic?: Semantic; readonly allowsOtherKinds?: true }
  | MapType
  | RecordType
  | UnionType;

/** `int` holds at most 32 bits, `long` 64. */
export type PrimitiveKind = "null" | "boolean" | "int" | "long" | "float" | "double" | "string" | "bytes";

/** A type that is made of no others. */
export interface PrimitiveType {
  /** The primitive type. */
  readonly kind: PrimitiveKind;
  /**
   * How many bits an `int` has, if its schema declares fewer than 32 (Connect's int8 and int16).
   * @default 32
   */
  readonly bits?: 8 | 16;
  /** What the column means, if its schema or a hint states more than its kind. */
  readonly semantic?: Semantic;
}

/** Any JSON value. Only text encodings can carry it, because binary ones cannot be read without a type. */
export interface AnyType {
  readonly kind: "any";
  /** What the column means, if its schema or a hint states more than its kind. */
  readonly semantic?: Semantic;
}

/** Keys and values, all of one type each. */
export interface MapType {
  readonly kind: "map";
  /** Null if keys are strings: the value is an object without prototype. Otherwise it is a `Map`. */
  readonly keys: Type | null;
  /** The type of the values. */
  readonly values: Type;
  /**
   * Whether values of all other kinds are allowed, too: their JSON Schema describes what is in such a value, and states no `type`. They are
   * read as they are.
   */
  readonly allowsOtherKinds?: true;
  /** What the column means, if its schema or a hint states more than its kind. */
  readonly semantic?: Semantic;
}

/** Named fields: a row, or a part of one. */
export interface RecordType {
  readonly kind: "record";
  /** The full name (Connect's schema name, if there is one), or null. */
  readonly name: string | null;
  /** The fields in the order of the schema. */
  readonly fields: readonly Field[];
  /**
   * Whether values of all other kinds are allowed, too: their JSON Schema describes what is in such a value, and states no `type`. They are
   * read as they are.
   */
  readonly allowsOtherKinds?: true;
  /** What the column means, if its schema or a hint states more than its kind. */
  readonly semantic?: Semantic;
}

/** A field of a record, or a column of a row. */
export interface Field {
  /** The name, as the schema has it. */
  readonly name: string;
  /** The type of its values. */
  readonly type: Type;
  /** The column as its database declares it, if the connector is configured to propagate that. */
  readonly source?: NativeColumn;
  /** The value of rows that were there before the column, if the schema states one of a plain type. A decimal is its text. */
  readonly defaultValue?: boolean | number | bigint | string;
}

/** The default of a column, as a schema states it. */
export type DefaultValue = NonNullable<Field["defaultValue"]>;

/** One of several types. */
export interface UnionType {
  readonly kind: "union";
  /** The types of which each value has one, in the order of the schema. */
  readonly branches: readonly Type[];
  /** A union has none; its branches may. */
  readonly semantic?: undefined;
}

/** The type without the null branch of an optional type. */
export function withoutNull(type: Type): Type {
  if (type.kind !== "union") {
    return type;
  }
  const rest = type.branches.filter((branch) => branch.kind !== "null");
  return rest.length === 1 && rest[0] !== undefined ? rest[0] : type;
}

/** The name of a record type. Null if the type is no record, or has no name. */
export function recordName(type: Type): string | null {
  const record = withoutNull(type);
  return record.kind === "record" ? record.name : null;
}

/** A field. Its schema's parameters may name the database column from which the field comes. `defaultValue`: null if there is none. */
export function fieldOf(name: string, type: Type, parameters: unknown, defaultValue: DefaultValue | null = null): Field {
  const source = propagatedColumn(parameters);
  return {
    name,
    type,
    ...(source === null ? {} : { source }),
    ...(defaultValue === null ? {} : { defaultValue }),
  };
}
