import { readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { packageRoot } from "../package-root.ts";

let validate: ValidateFunction | undefined;

/** What is wrong with a result according to its published schema, with the place where; null if nothing is. */
export function schemaComplaint(result: unknown): string | null {
  validate ??= new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false, strictTypes: false }).compile(readSchema());
  try {
    if (validate(result)) {
      return null;
    }
  } catch {
    return "it is nested deeper than any result"; // the validator's own stack is at its end
  }
  // An "if" that leads to an error is no error of the file.
  const error = validate.errors?.find(({ keyword }) => keyword !== "if");
  return `${error?.instancePath === "" ? "it" : (error?.instancePath ?? "it")} ${error?.message ?? "is wrong"}`;
}

function readSchema(): object {
  return JSON.parse(readFileSync(new URL("schema/result.schema.json", packageRoot), "utf8")) as object;
}
