import type { JsonSchemaDocuments, JsonSchemaValidator, JsonSchemaValidatorOptions, ValidateJson } from "../../json-schema-validator.ts";
import { isPromise, wrongAnswer } from "../../user-answer.ts";

/**
 * The check that a validator makes of a schema. Its answers are checked, because a validator may be the user's own: one that answers `false`, as
 * a function of ajv does, or a promise, would let every value pass.
 */
export function checkedValidation(
  validator: JsonSchemaValidator,
  documents: JsonSchemaDocuments,
  options: JsonSchemaValidatorOptions,
): ValidateJson {
  const validate: unknown = validator.compile(documents, options);
  if (typeof validate !== "function") {
    throw wrongAnswer("compile of the jsonSchemaValidator", "return a function that checks a value", validate);
  }
  return (value, messageBytes) => {
    const answer: unknown = (validate as (...args: Parameters<ValidateJson>) => unknown)(value, messageBytes);
    if (answer === false || isPromise(answer)) {
      throw wrongAnswer(
        "a function of the jsonSchemaValidator",
        "throw a DecodeError if the value breaks a rule, and return nothing",
        answer,
      );
    }
  };
}
