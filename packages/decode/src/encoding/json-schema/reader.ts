import { DecodeError, isDecodeError } from "../../errors.ts";
import type { EncodingName } from "../../event.ts";
import type { ValidateJson } from "../../json-schema-validator.ts";
import type { ResolvedLimits } from "../../options.ts";
import { JsonReader } from "../json/reader.ts";
import type { CompileOptions, PayloadReader } from "../reader.ts";
import { readText } from "../utf8-text.ts";
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

/** Which messages of one schema are checked, whichever of its readers reads them. */
export class Sampling {
  readonly #interval: number;
  #count = 0;
  /** Where the last message that failed lies. Weak: it must not keep a batch in memory. */
  #failed: { readonly memory: WeakRef<ArrayBufferLike>; readonly at: number } | null = null;

  /** `interval`: of this many messages, one is checked. */
  constructor(interval: number) {
    this.#interval = interval;
  }

  /** A message that has failed is not counted again: if it is read once more, for other columns, it must fail once more. */
  check(bytes: Uint8Array, start: number, validate: () => void): void {
    const at = bytes.byteOffset + start;
    if (this.#failed?.at === at && this.#failed.memory.deref() === bytes.buffer) {
      validate();
    } else if (this.#count++ % this.#interval === 0) {
      try {
        validate();
      } catch (error) {
        this.#failed = { memory: new WeakRef(bytes.buffer), at };
        throw error;
      }
    }
  }
}

/** Reads JSON by its schema's type, and checks it against the other rules of the schema. */
export class CheckedReader implements PayloadReader {
  readonly encoding: EncodingName = "json-schema";
  readonly type: Type;
  readonly #reader: JsonReader;
  readonly #validate: ValidateJson;
  readonly #sampling: Sampling;

  constructor(type: Type, options: CompileOptions, validate: ValidateJson, sampling: Sampling) {
    this.type = type;
    const maxCostPerByte = checkingCost(options.limits);
    this.#reader = new JsonReader("json-schema", type, { ...options, limits: { ...options.limits, maxCostPerByte } });
    this.#validate = validate;
    this.#sampling = sampling;
  }

  read(bytes: Uint8Array, start: number, end: number): unknown {
    const value = this.#reader.read(bytes, start, end); // first, because it limits the cost of what is parsed below
    this.#sampling.check(bytes, start, () => this.#validate(parseAsWritten(bytes, start, end), end - start));
    return value;
  }
}

/** The value as the rules of JSON Schema see it: without conversions, and with doubles as numbers. */
function parseAsWritten(bytes: Uint8Array, start: number, end: number): unknown {
  try {
    return JSON.parse(readText(bytes, start, end));
  } catch (error) {
    // JSON.parse accepts all that the reader accepts. If it ever did not, its message would quote the payload, so it is not passed on.
    throw isDecodeError(error) ? error : new DecodeError("malformed", "expected JSON text, found other bytes");
  }
}
