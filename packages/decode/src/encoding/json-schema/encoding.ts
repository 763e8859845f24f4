import { JsonReader } from "../json/reader.ts";
import type { CompileOptions, PayloadReader } from "../reader.ts";
import type { ParsedSchema, SchemaEncoding } from "../schema-encoding.ts";
import { CheckedReader } from "./reader.ts";
import { parseJsonSchema } from "./schema.ts";
import { compileValidator, isValidatorLoaded, loadValidator, type Validate } from "./validator.ts";

/** JSON whose schema is a JSON Schema in a registry: Confluent's serializers, Connect's JsonSchemaConverter. */
export const jsonSchema: SchemaEncoding = {
  name: "json-schema",
  schemaType: "JSON",
  isLoaded: (validation = "off") => validation === "off" || isValidatorLoaded(),
  load: async (validation = "off") => {
    if (validation !== "off") {
      await loadValidator();
    }
  },
  parse: (schema, limits): ParsedSchema => {
    const { type, documents } = parseJsonSchema(schema, limits);
    let validate: Validate | null = null;
    const compile = (options: CompileOptions): PayloadReader => {
      if ((options.validation ?? "off") === "off") {
        return new JsonReader("json-schema", type, options);
      }
      validate ??= compileValidator(documents, options.codeGeneration, options.limits);
      return new CheckedReader(type, options, validate);
    };
    return { typeOf: () => type, compile: (_, options) => compile(options) };
  },
};
