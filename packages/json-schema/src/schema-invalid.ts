import { DecodeError } from "@cdckit/decode";

export function schemaInvalid(found: string): DecodeError {
  return new DecodeError("schema-invalid", `expected a JSON Schema that values can be checked against, found that ${found}`);
}

/** The error for a pattern that cannot be used. */
export function patternInvalid(found: string): DecodeError {
  return schemaInvalid(`a pattern ${found}: change the pattern, or set validation to "off"`);
}
