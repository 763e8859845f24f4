/**
 * Checks values against the rules of their JSON Schema. The decoder has none of its own: `jsonSchemaValidator` of `@cdckit/json-schema` is one.
 */
export interface JsonSchemaValidator {
  /** Compiles the rules of one schema, once. Throws a `DecodeError` if values cannot be checked against it. */
  compile(documents: JsonSchemaDocuments, options: JsonSchemaValidatorOptions): ValidateJson;
}

/**
 * Throws a `DecodeError` of code `value-invalid` if the value breaks a rule of its schema, and of code `limit-exceeded` if the check costs
 * more than it may. `messageBytes` is the length of the message in bytes.
 */
export type ValidateJson = (value: unknown, messageBytes: number) => void;

/** What a validator may do, and what it may cost. */
export interface JsonSchemaValidatorOptions {
  /** Whether code may be generated. False if the runtime forbids it. */
  readonly codeGeneration: boolean;
  /**
   * What checking one message may cost for each of its bytes, in nanoseconds, approximately. A message smaller than 1 MiB counts as one of
   * 1 MiB.
   */
  readonly maxNsPerByte: number;
}

/** A schema inside a text: an object, or true or false. `base` is the address that references in it start from. */
export interface JsonSchemaPlace {
  /** The schema itself, as `JSON.parse` gives it. */
  readonly node: unknown;
  /** The address that references in it start from. */
  readonly base: string;
}

/** The text of a schema and the texts that it refers to. Nothing is fetched. */
export interface JsonSchemaDocuments {
  /** The schema that the value was written with. */
  readonly root: JsonSchemaPlace;
  /** The schema that a reference means. Throws a `DecodeError` of code `schema-invalid` if no text has it. */
  resolve(reference: string, from: JsonSchemaPlace): JsonSchemaPlace;
  /** A schema that stands inside another one. */
  inside(node: unknown, place: JsonSchemaPlace): JsonSchemaPlace;
}
