import type { TextEncoding } from "../text-encoding.ts";

/** JSON without a schema. */
export const json: TextEncoding = {
  name: "json",
  holds: () => true,
  evidence: {
    won: (length) => `all ${length} bytes are one JSON value`,
    absent: "it is no JSON",
    misfit: "the payload is JSON, yet does not decode as it should",
  },
};
