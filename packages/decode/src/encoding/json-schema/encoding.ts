import { DecodeError, isDecodeError } from "../../errors.ts";
import type { ValidateJson } from "../../json-schema-validator.ts";
import { JsonReader } from "../json/reader.ts";
import type { CompileOptions, PayloadReader } from "../reader.ts";
import type { ParsedSchema, SchemaEncoding } from "../schema-encoding.ts";
import { CheckedReader, checkingCost, Sampling } from "./reader.ts";
import { parseJsonSchema } from "./schema.ts";
import { checkedValidation } from "./checked-validation.ts";

/** JSON with a JSON Schema in a registry, as Confluent's serializers and Connect's JsonSchemaConverter write it. */
export const jsonSchema: SchemaEncoding = {
  name: "json-schema",
  schemaType: "JSON",
  parse: (schema, limits): ParsedSchema => {
    const { type, documents } = parseJsonSchema(schema, limits);
    let validate: ValidateJson | null = null;
    let refused: DecodeError | null = null;
    let sampling: Sampling | null = null;
    const compile = (options: CompileOptions): PayloadReader => {
      const { validation, codeGeneration } = options;
      if (validation === undefined || validation === null) {
        return new JsonReader("json-schema", type, options);
      }
      if (refused !== null) {
        throw new DecodeError(refused.code, refused.detail); // otherwise each message of the schema would compile it again
      }
      try {
        validate ??= checkedValidation(validation.validator, documents, { codeGeneration, maxNsPerByte: checkingCost(options.limits) });
      } catch (error) {
        refused = isDecodeError(error) ? error : null;
        throw error;
      }
      sampling ??= new Sampling(validation.interval);
      return new CheckedReader(type, options, validate, sampling);
    };
    return { typeOf: () => type, compile: (_, options) => compile(options) };
  },
};
