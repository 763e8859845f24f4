import { valueInvalid } from "./value-invalid.ts";

/** The fields of a struct that is one value. */
export type Struct = Readonly<Record<string, unknown>>;

/** An integer within bounds; an absent or null field is 0. */
export function integerField(name: string, value: Struct, field: string, min: number, max: number): number {
  const found = ownField(value, field) ?? 0;
  const number = typeof found === "bigint" ? Number(found) : found;
  if (typeof number !== "number" || !Number.isInteger(number) || number < min || number > max) {
    throw valueInvalid(name, `an integer field ${field} from ${min} to ${max}`, "another value");
  }
  return number;
}

/** A field's value, or null if there is none. */
export function ownField(value: Struct, field: string): unknown {
  return Object.hasOwn(value, field) ? (value[field] ?? null) : null;
}
