import { DecodeError } from "../../errors.ts";

export function schemaInvalid(found: string): DecodeError {
  return new DecodeError("schema-invalid", `expected a JSON Schema that can be used, found that ${found}`);
}

/** A name of the schema's text, cut: a registry may hold anything. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}...` : name);
}
