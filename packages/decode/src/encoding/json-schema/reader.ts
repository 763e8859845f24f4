import { DecodeError, isDecodeError } from "../../errors.ts";
import type { EncodingName } from "../../event.ts";
import type { ValidateJson } from "../../json-schema-validator.ts";
import type { ResolvedLimits } from "../../options.ts";
import { JsonReader } from "../json/reader.ts";
import type { CompileOptions, PayloadReader } from "../reader.ts";
import { freshText } from "../text-cache.ts";
import type { Type } from "../type.ts";

/**
 * Reading a message and checking it each get this share of what reading a message may cost that is not checked. Together they cost less than
 * that.
 */
const share = 0.35;

/** What checking a message may cost for each of its bytes, and what reading it may cost beside. */
export function checkingCost({ maxCostPerByte }: Pick<ResolvedLimits, "maxCostPerByte">): number {
  return Math.ceil(maxCostPerByte * share);
}

/** Reads JSON by its schema's type, and holds it to the schema's further rules. */
export class CheckedReader implements PayloadReader {
  readonly encoding: EncodingName = "json-schema";
  readonly type: Type;
  readonly #reader: JsonReader;
  readonly #validate: ValidateJson;
  readonly #interval: number;
  #count = 0;

  /** `interval`: one message in as many is checked. */
  constructor(type: Type, options: CompileOptions, validate: ValidateJson, interval: number) {
    this.type = type;
    const maxCostPerByte = checkingCost(options.limits);
    this.#reader = new JsonReader("json-schema", type, { ...options, limits: { ...options.limits, maxCostPerByte } });
    this.#validate = validate;
    this.#interval = interval;
  }

  read(bytes: Uint8Array, start: number, end: number): unknown {
    const value = this.#reader.read(bytes, start, end); // first, as it bounds what is parsed below
    if (this.#count++ % this.#interval === 0) {
      this.#validate(parseAsWritten(bytes, start, end), end - start);
    }
    return value;
  }
}

/** The value as JSON Schema speaks of it: before any meaning is applied, numbers as doubles. */
function parseAsWritten(bytes: Uint8Array, start: number, end: number): unknown {
  try {
    return JSON.parse(freshText(bytes, start, end));
  } catch (error) {
    // What the reader took, JSON.parse takes. If it did not, its message would quote the payload.
    throw isDecodeError(error) ? error : new DecodeError("malformed", "expected JSON text, found something else");
  }
}
