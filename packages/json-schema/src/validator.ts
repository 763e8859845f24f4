import { Ajv2019, type ErrorObject, type ValidateFunction } from "ajv/dist/2019.js";
import {
  DecodeError,
  isDecodeError,
  type JsonSchemaDocuments,
  type JsonSchemaValidator,
  type JsonSchemaValidatorOptions,
  type ValidateJson,
} from "@cdckit/decode";
import { BoundedPattern } from "./bounded-pattern.ts";
import { type Bundle, bundleSchema, costKeyword } from "./bundle.ts";
import { canonicalText } from "./canonical-text.ts";
import { multipleOf } from "./multiple-of.ts";
import { schemaInvalid } from "./schema-invalid.ts";

/**
 * Checks values against the rules of their JSON Schema (drafts 4 to 2020-12), with ajv and re2js. `format` is only an annotation. Values
 * are not changed: no defaults, no coercion.
 */
export const jsonSchemaValidator: JsonSchemaValidator = { compile: compileValidator };

function compileValidator(documents: JsonSchemaDocuments, { codeGeneration, maxNsPerByte }: JsonSchemaValidatorOptions): ValidateJson {
  if (!codeGeneration) {
    throw new DecodeError(
      "unsupported-format",
      'expected a runtime that lets ajv generate code, because values are checked against their JSON Schema, found one that forbids it (--disallow-code-generation-from-strings); set validation to "off", or allow code generation',
    );
  }
  const bundle = bundleSchema(documents);
  const budget = new Budget(maxNsPerByte);
  const check = compile(bundle, budget);
  return (value, messageBytes) => {
    budget.refill(messageBytes);
    if (!isValid(check, value)) {
      const error = broken(check.errors?.[0], bundle);
      check.errors = null; // the errors hold the value
      throw error;
    }
  };
}

function compile(bundle: Bundle, budget: Budget): ValidateFunction {
  const regExp = Object.assign((pattern: string) => new BoundedPattern(pattern, budget.addCost), { code: "boundedPattern" });
  try {
    const ajv = new Ajv2019({
      strict: false,
      meta: false,
      validateSchema: false,
      validateFormats: false,
      addUsedSchema: false,
      inlineRefs: false, // a part that is referred to a thousand times is compiled once
      ownProperties: true, // inherited properties do not count
      messages: false,
      verbose: true, // gives the part of the schema that an error belongs to
      logger: false,
      code: { regExp, optimize: false }, // optimising takes seven times as long as generating
    });
    // ajv would compare each item with every other item, and each value with every value of the list. A set makes that one lookup.
    // It would also divide doubles for `multipleOf`, which refuses 19.99 as a multiple of 0.01.
    for (const keyword of ["uniqueItems", "enum", "multipleOf"]) {
      ajv.removeKeyword(keyword);
    }
    ajv.addKeyword({
      keyword: "uniqueItems",
      type: "array",
      schemaType: "boolean",
      validate: (isAsked: boolean, items: readonly unknown[]) => !isAsked || areUnique(items, budget),
      errors: false,
    });
    ajv.addKeyword({ keyword: "enum", schemaType: "array", compile: isListed, errors: false });
    ajv.addKeyword({
      keyword: "multipleOf",
      type: "number",
      schemaType: "number",
      compile: (divisor: number) => multipleOf(divisor, budget.addCost),
      errors: false,
    });
    ajv.addKeyword({ keyword: costKeyword, schemaType: "number", before: "not", validate: budget.addKeywordCost, errors: false });
    return ajv.compile(bundle.schema);
  } catch (error) {
    if (isDecodeError(error)) {
      throw error;
    }
    throw schemaInvalid(`ajv cannot compile it (${(error as Error).name})`); // without its message, which would quote the text
  }
}

function isValid(check: ValidateFunction, value: unknown): boolean {
  try {
    return check(value) as boolean; // synchronous, because the bundle leaves `$async` out
  } catch (error) {
    if (isDecodeError(error)) {
      throw error;
    }
    throw new DecodeError(
      "limit-exceeded",
      `expected a value that can be checked against its schema, found one that is nested too deep (${(error as Error).name})`,
    );
  }
}

/** The error names the broken rule by its path in the schema. It does not say at which place in the value, because names may be data. */
function broken(error: ErrorObject | undefined, { paths }: Bundle): DecodeError {
  const path = `${paths.get(error?.parentSchema) ?? "#"}/${error?.keyword ?? ""}`;
  const rule = path.length > 200 ? `...${path.slice(-200)}` : path;
  return new DecodeError(
    "value-invalid",
    `expected a value that its JSON Schema allows, found one that breaks the rule ${JSON.stringify(rule)}`,
  );
}

/** The cost of an item that has parts, in about nanoseconds: its text is made for the comparison. */
const nsOfText = 600;
const nsOfSingle = 150;

function areUnique(items: readonly unknown[], { addCost }: Budget): boolean {
  const { singles, others } = partedValues(items);
  addCost(nsOfSingle * singles.length + nsOfText * others.length);
  return new Set(singles).size + new Set(others.map(canonicalText)).size === items.length;
}

function isListed(list: readonly unknown[]): (value: unknown) => boolean {
  const { singles, others } = partedValues(list);
  const values = new Set(singles);
  const texts = new Set(others.map(canonicalText));
  return (value) => (isSingle(value) ? values.has(value) : texts.has(canonicalText(value)));
}

/** Splits values into those that are compared directly and those that are compared by their text. */
function partedValues(values: readonly unknown[]): { readonly singles: readonly unknown[]; readonly others: readonly unknown[] } {
  return { singles: values.filter(isSingle), others: values.filter((value) => !isSingle(value)) };
}

function isSingle(value: unknown): boolean {
  return typeof value !== "object" || value === null;
}

/** A shorter message has the cost budget of this many bytes. */
const minBytes = 1_048_576;

/**
 * Limits the cost of checking one message, in about nanoseconds. Alternatives inside of alternatives that contain themselves double with
 * every level, and a pattern takes as many steps as the text has characters.
 */
class Budget {
  readonly #perByte: number;
  #left = 0;

  constructor(perByte: number) {
    this.#perByte = perByte;
  }

  refill(length: number): void {
    this.#left = this.#perByte * Math.max(length, minBytes);
  }

  readonly addCost = (ns: number): void => {
    this.#left -= ns;
    if (this.#left < 0) {
      throw new DecodeError(
        "limit-exceeded",
        `expected a value that its JSON Schema can be checked against in ${this.#perByte} ns for each byte of the message, found that its alternatives or patterns take longer; simplify them, raise limits.maxCostPerByte, or set validation to "off"`,
      );
    }
  };

  /** The cost keyword of a part of the schema. */
  readonly addKeywordCost = (ns: number): boolean => {
    this.addCost(ns);
    return true;
  };
}
