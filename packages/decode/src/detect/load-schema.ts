import { DecodeError, type DecodeErrorCode } from "../errors.ts";
import type { SchemaId, SchemaLoadFailure } from "../schema-source.ts";
import type { Engine } from "./engine.ts";

const codes: Readonly<Record<SchemaLoadFailure, DecodeErrorCode>> = {
  "not-found": "schema-not-found",
  unavailable: "schema-unavailable",
  refused: "schema-refused",
};

/** Brings a schema to hand. Null when it is there, or the error that reading a message of it ends in. */
export async function loadSchema(engine: Engine, id: SchemaId): Promise<DecodeError | null> {
  try {
    await engine.schemas?.load(id);
    // A source that loads a schema and does not keep it would be asked for ever.
    return engine.schemas?.peek(id) === undefined
      ? new DecodeError(
          "schema-unavailable",
          `expected the schema source to have schema id ${id} at hand after loading it, found that peek knows none`,
        )
      : null;
  } catch (cause) {
    return loadError(id, cause);
  }
}

function loadError(id: SchemaId, cause: unknown): DecodeError {
  const failure = typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : "";
  const code = Object.hasOwn(codes, failure) ? codes[failure as SchemaLoadFailure] : "schema-unavailable";
  const reason = cause instanceof Error ? cause.message : "the source gave no reason";
  return new DecodeError(code, `expected schema id ${id} from the schema source, found: ${reason}`, { cause });
}
