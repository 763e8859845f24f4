/**
 * What an Avro schema says of its types that reading by the writer's schema does not ask for: names, aliases, defaults. Kept beside the
 * types, for those who read by another schema, or Avro written as JSON.
 */
import type { Field, Type } from "../type.ts";

export interface NamedDetails {
  readonly fullName: string;
  readonly aliases: readonly string[];
  /** The symbol that stands for those that an enum does not have. */
  readonly defaultSymbol: string | null;
}

export interface FieldDetails {
  readonly aliases: readonly string[];
  /** As JSON; null where the field has none. */
  readonly defaultValue: { readonly json: unknown } | null;
}

const named = new WeakMap<object, NamedDetails>();
const fields = new WeakMap<Field, FieldDetails>();
const noFieldDetails: FieldDetails = { aliases: [], defaultValue: null };

/** Of a record, an enum or a fixed; null of every other type. */
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

/** The name by which Avro's JSON encoding tells a branch of a union from the others. */
export function branchName(type: Type): string {
  if (type.kind === "map") {
    return type.keys === null ? "map" : "array"; // Connect's map of other keys is an array of pairs
  }
  return detailsOf(type)?.fullName ?? type.kind;
}

/** Types that differ in their parameters alone share their fields, and their symbols. */
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
