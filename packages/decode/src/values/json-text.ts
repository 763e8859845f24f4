import { DecodeError, isDecodeError } from "../errors.ts";
import type { JsonMode } from "../options.ts";
import type { Conversion } from "./conversion.ts";
import { valueInvalid } from "./value-invalid.ts";

/** A JSON document in a column: its text as it is, or its parsed value without rounding. */
export function jsonConversion(name: string, mode: JsonMode, parseJson: (text: string) => unknown): Conversion | null {
  if (mode === "text") {
    return null;
  }
  return {
    text: (text) => {
      try {
        return parseJson(text);
      } catch (cause) {
        const error = valueInvalid(name, "JSON text", "other text");
        // Only our own errors certainly do not quote the text that they could not parse.
        throw isDecodeError(cause) ? new DecodeError(error.code, error.detail, { cause }) : error;
      }
    },
  };
}
