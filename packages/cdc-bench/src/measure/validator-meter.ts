import type { JsonSchemaValidator, ValidateJson } from "@cdckit/decode";
import { performance } from "node:perf_hooks";

/** A validator that says how long it has checked. */
export interface ValidatorMeter {
  readonly validator: JsonSchemaValidator;
  /** Checking so far; compiling schemas is no part of it. */
  readonly validateMs: number;
}

export function meterValidator(inner: JsonSchemaValidator): ValidatorMeter {
  let validateMs = 0;
  return {
    validator: {
      compile(documents, options): ValidateJson {
        const validate = inner.compile(documents, options);
        return (value, messageBytes) => {
          const startMs = performance.now();
          try {
            validate(value, messageBytes);
          } finally {
            validateMs += performance.now() - startMs;
          }
        };
      },
    },
    get validateMs() {
      return validateMs;
    },
  };
}
