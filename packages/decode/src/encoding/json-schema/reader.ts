import { DecodeError, isDecodeError } from "../../errors.ts";
import type { EncodingName } from "../../event.ts";
import type { ValidateJson } from "../../json-schema-validator.ts";
import type { ResolvedLimits } from "../../options.ts";
import { JsonReader } from "../json/reader.ts";
import type { CompileOptions, PayloadReader } from "../reader.ts";
import { freshText } from "../text-cache.ts";
import type { Type } from "../type.ts";

/**
 * Reading a checked message, and checking it, may each cost this share of what reading an unchecked message may cost. So both together cost
 * less than an unchecked message may.
 */
const share = 0.35;

/** The cost limit per byte for checking a message. Reading it has the same limit. */
export function checkingCost({ maxCostPerByte }: Pick<ResolvedLimits, "maxCostPerByte">): number {
  return Math.ceil(maxCostPerByte * share);
}

/** Reads JSON by its schema's type, and checks it against the other rules of the schema. */
export class CheckedReader implements PayloadReader {
  readonly encoding: EncodingName = "json-schema";
  readonly type: Type;
  readonly #reader: JsonReader;
  readonly #validate: ValidateJson;
  readonly #interval: number;
  #count = 0;

  /** `interval`: of this many messages, one is checked. */
  constructor(type: Type, options: CompileOptions, validate: ValidateJson, interval: number) {
    this.type = type;
    const maxCostPerByte = checkingCost(options.limits);
    this.#reader = new JsonReader("json-schema", type, { ...options, limits: { ...options.limits, maxCostPerByte } });
    this.#validate = validate;
    this.#interval = interval;
  }

  read(bytes: Uint8Array, start: number, end: number): unknown {
    const value = this.#reader.read(bytes, start, end); // first, because it limits the cost of what is parsed below
    if (this.#count++ % this.#interval === 0) {
      this.#validate(parseAsWritten(bytes, start, end), end - start);
    }
    return value;
  }
}

/** The value as the rules of JSON Schema see it: without conversions, and with doubles as numbers. */
function parseAsWritten(bytes: Uint8Array, start: number, end: number): unknown {
  try {
    return JSON.parse(freshText(bytes, start, end));
  } catch (error) {
    // JSON.parse accepts all that the reader accepts. If it ever did not, its message would quote the payload, so it is not passed on.
    throw isDecodeError(error) ? error : new DecodeError("malformed", "expected JSON text, found other bytes");
  }
}
