/**
 * Names, aliases and defaults of an Avro schema. Reading by the writer's schema does not need them, so they are kept beside the types, for
 * schema resolution and for Avro's JSON encoding.
 */
import type { Field, Type } from "../type.ts";

export interface NamedDetails {
  readonly fullName: string;
  readonly aliases: readonly string[];
  /** The symbol that an unknown symbol becomes. */
  readonly defaultSymbol: string | null;
}

export interface FieldDetails {
  readonly aliases: readonly string[];
  /** The default as JSON; null if the field has none. */
  readonly defaultValue: { readonly json: unknown } | null;
}

const named = new WeakMap<object, NamedDetails>();
const fields = new WeakMap<Field, FieldDetails>();
const noFieldDetails: FieldDetails = { aliases: [], defaultValue: null };

/** The details of a record, an enum or a fixed; null for every other type. */
export function detailsOf(type: Type): NamedDetails | null {
  return named.get(identityOf(type)) ?? null;
}

export function setDetails(type: Type, details: NamedDetails): void {
  named.set(identityOf(type), details);
}

export function fieldDetailsOf(field: Field): FieldDetails {
  return fields.get(field) ?? noFieldDetails;
}

export function setFieldDetails(field: Field, details: FieldDetails): void {
  fields.set(field, details);
}

/** The name of a union's branch in Avro's JSON encoding. */
export function branchName(type: Type): string {
  if (type.kind === "map") {
    return type.keys === null ? "map" : "array"; // Connect writes a map with other keys as an array of pairs
  }
  return detailsOf(type)?.fullName ?? type.kind;
}

/** Types that differ only in their parameters share their fields and symbols. */
function identityOf(type: Type): object {
  switch (type.kind) {
    case "record":
      return type.fields;
    case "enum":
      return type.symbols;
    default:
      return type;
  }
}
