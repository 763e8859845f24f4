import { DecodeError } from "../../errors.ts";

export function schemaInvalid(found: string): DecodeError {
  return new DecodeError(
    "schema-invalid",
    `expected a JSON Schema that can be used, found that ${found}; check the schema in the registry`,
  );
}

/** A name from the schema's text in quotes. It is cut, because a registry may hold anything. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}...` : name);
}
