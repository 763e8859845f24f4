import type { JsonMode } from "../options.ts";
import type { Conversion } from "./conversion.ts";
import { valueInvalid } from "./value-invalid.ts";

/** A JSON document in a column: its text as it is, or what it says, without rounding. */
export function jsonConversion(name: string, mode: JsonMode, parseJson: (text: string) => unknown): Conversion | null {
  if (mode === "text") {
    return null;
  }
  return {
    text: (text) => {
      try {
        return parseJson(text);
      } catch (cause) {
        // A parser of another make may quote the text in its message; a cause is for those who look.
        throw cause instanceof SyntaxError ? valueInvalid(name, "JSON text", "other text") : cause;
      }
    },
  };
}
