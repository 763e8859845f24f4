import { DecodeError, isDecodeError } from "../../errors.ts";
import type { EncodingName } from "../../event.ts";
import { JsonReader } from "../json/reader.ts";
import type { CompileOptions, PayloadReader } from "../reader.ts";
import { freshText } from "../text-cache.ts";
import type { Type } from "../type.ts";
import { checkedCost, type Validate } from "./validator.ts";

/** Of messages that are sampled, one in as many is checked. */
const sampleEvery = 100;

/** Reads JSON by its schema's type, and holds it to the schema's further rules where that is asked for. */
export class CheckedReader implements PayloadReader {
  readonly encoding: EncodingName = "json-schema";
  readonly type: Type;
  readonly #reader: JsonReader;
  readonly #validate: Validate;
  readonly #every: number;
  #count = 0;

  constructor(type: Type, options: CompileOptions, validate: Validate) {
    this.type = type;
    const maxCostPerByte = checkedCost(options.limits.maxCostPerByte);
    this.#reader = new JsonReader("json-schema", type, { ...options, limits: { ...options.limits, maxCostPerByte } });
    this.#validate = validate;
    this.#every = options.validation === "sampled" ? sampleEvery : 1;
  }

  read(bytes: Uint8Array, start: number, end: number): unknown {
    const value = this.#reader.read(bytes, start, end); // first, as it bounds what is parsed below
    if (this.#count++ % this.#every === 0) {
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
    // What the reader took, JSON.parse takes; were it otherwise, its message would quote the payload.
    throw isDecodeError(error) ? error : new DecodeError("malformed", "expected JSON text, found something else");
  }
}
