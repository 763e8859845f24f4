import { Ajv2019, type ErrorObject, type FuncKeywordDefinition, type ValidateFunction } from "ajv/dist/2019.js";
import {
  DecodeError,
  isDecodeError,
  type JsonSchemaDocuments,
  type JsonSchemaValidator,
  type JsonSchemaValidatorOptions,
  type ValidateJson,
} from "@cdckit/decode";
import { type AddCost, BoundedPattern } from "./bounded-pattern.ts";
import { type Bundle, bundleSchema, costKeyword, namesKeyword } from "./bundle.ts";
import { areUnique, isListed } from "./equal-values.ts";
import { isJsonObject } from "./json-object.ts";
import { multipleOf } from "./multiple-of.ts";
import { schemaInvalid } from "./schema-invalid.ts";
import { isAtLeast, isAtMost } from "./text-length.ts";

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
  const patterns = new Patterns(budget.addCost);
  const regExp = Object.assign((pattern: string) => patterns.of(pattern), { code: "boundedPattern" });
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
      jsPropertySyntax: true, // paths in the value are not asked for: as pointers, each call would escape the whole of a long name again
      code: { regExp, optimize: false }, // optimising takes seven times as long as generating
    });
    // It fails if it notes for nobody what was looked at: `if` and `anyOf` beside `patternProperties` end in a TypeError.
    ajv.opts.unevaluated = bundle.hasUnevaluated;
    addKeywords(ajv, budget);
    return ajv.compile(bundle.schema);
  } catch (error) {
    if (isDecodeError(error)) {
      throw error;
    }
    throw schemaInvalid(`ajv cannot compile it (${(error as Error).name})`); // without its message, which would quote the text
  }
}

/** What the patterns of a schema may have together: re2js takes ten microseconds, and 300 bytes, for each instruction. */
const maxInstructions = 50_000;

/** The patterns of one schema. Each is made once, however often it stands there. */
class Patterns {
  readonly #addCost: AddCost;
  readonly #made = new Map<string, BoundedPattern>();
  #instructions = 0;

  constructor(addCost: AddCost) {
    this.#addCost = addCost;
  }

  of(text: string): BoundedPattern {
    const known = this.#made.get(text);
    if (known !== undefined) {
      return known;
    }
    const pattern = new BoundedPattern(text, this.#addCost, (count) => this.#addInstructions(count));
    this.#made.set(text, pattern);
    return pattern;
  }

  #addInstructions(count: number): void {
    this.#instructions += count;
    if (this.#instructions > maxInstructions) {
      throw new DecodeError(
        "limit-exceeded",
        `expected a schema whose patterns have at most ${maxInstructions} instructions together (about one for each character of a pattern, times its counts), found more; simplify its patterns, or set validation to "off"`,
      );
    }
  }
}

/**
 * Replaces the keywords that take longer in ajv than they need to, or longer for a large value without a cost. ajv compares each item with
 * every other item, each value with every value of a list, and counts the characters of the whole text for any limit. It divides doubles for
 * `multipleOf`, which refuses 19.99 as a multiple of 0.01.
 */
function addKeywords(ajv: Ajv2019, { addCost, addKeywordCost, addNamesCost }: Budget): void {
  const keywords: readonly FuncKeywordDefinition[] = [
    {
      keyword: "uniqueItems",
      type: "array",
      schemaType: "boolean",
      validate: (isAsked: boolean, items: readonly unknown[]) => !isAsked || areUnique(items, addCost),
    },
    { keyword: "enum", schemaType: "array", compile: (list: readonly unknown[]) => isListed(list, addCost) },
    { keyword: "const", compile: (value: unknown) => isListed([value], addCost) },
    { keyword: "minLength", type: "string", schemaType: "number", compile: (limit: number) => isAtLeast(limit, addCost) },
    { keyword: "maxLength", type: "string", schemaType: "number", compile: (limit: number) => isAtMost(limit, addCost) },
    { keyword: "multipleOf", type: "number", schemaType: "number", compile: (divisor: number) => multipleOf(divisor, addCost) },
  ];
  for (const definition of keywords) {
    ajv.removeKeyword(definition.keyword as string);
    ajv.addKeyword({ ...definition, errors: false });
  }
  ajv.addKeyword({ keyword: costKeyword, schemaType: "number", before: "not", validate: addKeywordCost, errors: false });
  ajv.addKeyword({ keyword: namesKeyword, schemaType: "number", before: "not", validate: addNamesCost, errors: false });
}

function isValid(check: ValidateFunction, value: unknown): boolean {
  try {
    return check(value) as boolean; // synchronous, because the bundle leaves `$async` out
  } catch (error) {
    if (isDecodeError(error)) {
      throw error;
    }
    if (!(error instanceof RangeError)) {
      throw schemaInvalid(`ajv fails when it checks a value against it (${(error as Error).name}); set validation to "off"`);
    }
    throw new DecodeError("limit-exceeded", "expected a value that can be checked against its schema, found one that is nested too deep");
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

/** A shorter message has the cost budget of this many bytes. */
const minBytes = 1_048_576;

/**
 * Limits the cost of checking one message, in about nanoseconds. Alternatives inside of alternatives that contain themselves double with
 * every level, and a pattern takes time for each character of the text.
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

  /** The cost keyword of a part that looks at each name of an object. */
  readonly addNamesCost = (ns: number, value: unknown): boolean => {
    if (isJsonObject(value)) {
      this.addCost(ns * Object.keys(value).length);
    }
    return true;
  };
}
