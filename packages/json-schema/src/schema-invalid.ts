import { DecodeError } from "@cdckit/decode";

export function schemaInvalid(found: string): DecodeError {
  return new DecodeError("schema-invalid", `expected a JSON Schema that values can be checked against, found that ${found}`);
}

/** A pattern that values cannot be checked against. */
export function patternInvalid(found: string): DecodeError {
  return schemaInvalid(`a pattern ${found}: change the pattern, or set validation to "off"`);
}
