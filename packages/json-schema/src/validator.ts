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
import { schemaInvalid } from "./schema-invalid.ts";

/**
 * Checks values against the rules of their JSON Schema (drafts 4 to 2020-12), with ajv and re2js. `format` is an annotation, and nothing is
 * changed in values: no defaults, no coercion.
 */
export const jsonSchemaValidator: JsonSchemaValidator = { compile: compileValidator };

function compileValidator(documents: JsonSchemaDocuments, { codeGeneration, maxNsPerByte }: JsonSchemaValidatorOptions): ValidateJson {
  if (!codeGeneration) {
    throw new DecodeError(
      "unsupported-format",
      'expected a runtime that lets ajv generate code, as values are to be checked against their JSON Schema, found one that forbids it (--disallow-code-generation-from-strings): set validation to "off", or allow it',
    );
  }
  const bundle = bundleSchema(documents);
  const budget = new Budget(maxNsPerByte);
  const check = compile(bundle, budget);
  return (value, messageBytes) => {
    budget.refill(messageBytes);
    if (!isValid(check, value)) {
      const error = broken(check.errors?.[0], bundle);
      check.errors = null; // they hold the value
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
      inlineRefs: false, // a part that stands in a thousand places is compiled once
      ownProperties: true, // nothing inherited counts as there
      messages: false,
      verbose: true, // tells which part of the schema an error is of
      logger: false,
      code: { regExp, optimize: false }, // shorter code takes seven times as long to make
    });
    // What would be looked for in every other item, or in every other value of the list, is looked up.
    for (const keyword of ["uniqueItems", "enum"]) {
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
    ajv.addKeyword({ keyword: costKeyword, schemaType: "number", before: "not", validate: budget.addKeywordCost, errors: false });
    return ajv.compile(bundle.schema);
  } catch (error) {
    if (isDecodeError(error)) {
      throw error;
    }
    throw schemaInvalid(`ajv cannot make a check of it (${(error as Error).name})`); // its message would quote the text
  }
}

function isValid(check: ValidateFunction, value: unknown): boolean {
  try {
    return check(value) as boolean; // no part is asynchronous: `$async` was left out
  } catch (error) {
    if (isDecodeError(error)) {
      throw error;
    }
    throw new DecodeError(
      "limit-exceeded",
      `expected a value that can be checked against its schema, found one too deep (${(error as Error).name})`,
    );
  }
}

/** Says which rule it was, by its place in the schema; where in the value is left out, as names may be data. */
function broken(error: ErrorObject | undefined, { paths }: Bundle): DecodeError {
  const path = `${paths.get(error?.parentSchema) ?? "#"}/${error?.keyword ?? ""}`;
  const rule = path.length > 200 ? `...${path.slice(-200)}` : path;
  return new DecodeError(
    "value-invalid",
    `expected a value that its JSON Schema allows, found one that breaks the rule ${JSON.stringify(rule)}`,
  );
}

/** Of items that have parts, in nanoseconds or so: each becomes a text. */
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

/** Values that are told apart as they are, and those that are told apart by their text. */
function partedValues(values: readonly unknown[]): { readonly singles: readonly unknown[]; readonly others: readonly unknown[] } {
  return { singles: values.filter(isSingle), others: values.filter((value) => !isSingle(value)) };
}

function isSingle(value: unknown): boolean {
  return typeof value !== "object" || value === null;
}

/** A short message may take as long as one of this length. */
const minBytes = 1_048_576;

/**
 * What checking one message may cost, in nanoseconds or so: alternatives inside of alternatives that hold themselves double with every
 * level, and a pattern takes as many steps as the text has characters.
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
        `expected a value that its JSON Schema can be checked against in ${this.#perByte} ns for each byte of the message, found that its alternatives or patterns take longer: simplify them, raise limits.maxCostPerByte, or set validation to "off"`,
      );
    }
  };

  /** Of a part of the schema, which says what it costs. */
  readonly addKeywordCost = (ns: number): boolean => {
    this.addCost(ns);
    return true;
  };
}
