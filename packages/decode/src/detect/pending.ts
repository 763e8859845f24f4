import type { SchemaEncoding } from "../encoding/schema-encoding.ts";
import { DecodeError, type DecodeErrorCode, isError, thrownCode, thrownText } from "../errors.ts";
import type { CdcEvent } from "../event.ts";
import type { SchemaId, SchemaLoadFailure } from "../schema-source.ts";
import type { Engine } from "./engine.ts";

/** What must be loaded before a record can be read: a schema, or the library that reads schemas of its type. */
export type Pending =
  | { readonly kind: "schema"; readonly id: SchemaId }
  | { readonly kind: "encoding"; readonly id: string; readonly encoding: SchemaEncoding };

/** What could not be loaded, with the error that reading ends in. */
export type Failures = ReadonlyMap<SchemaId, DecodeError>;

/** The events of a record, or what must be loaded first. */
export type Outcome = readonly CdcEvent[] | Pending;

export function isPending(outcome: Outcome): outcome is Pending {
  return !Array.isArray(outcome);
}

export function pendingEncoding(encoding: SchemaEncoding): Pending {
  return { kind: "encoding", id: `the reader of ${encoding.schemaType} schemas`, encoding };
}

/** Loads what is pending. Null after success, otherwise the error that reading the message ends in. */
export async function load(engine: Engine, pending: Pending): Promise<DecodeError | null> {
  return pending.kind === "schema" ? loadSchema(engine, pending.id) : loadEncoding(pending.encoding);
}

const codes: Readonly<Record<SchemaLoadFailure, DecodeErrorCode>> = {
  "not-found": "schema-not-found",
  unavailable: "schema-unavailable",
  refused: "schema-refused",
};

async function loadSchema(engine: Engine, id: SchemaId): Promise<DecodeError | null> {
  try {
    await engine.schemas?.load(id);
    // A source that loads a schema and does not keep it would be asked again for ever.
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
  const failure = thrownCode(cause);
  const code = Object.hasOwn(codes, failure) ? codes[failure as SchemaLoadFailure] : "schema-unavailable";
  const reason = isError(cause) ? thrownText(cause) : "the source gave no reason";
  return new DecodeError(code, `expected schema id ${id} from the schema source, found: ${reason}`, { cause });
}

async function loadEncoding(encoding: SchemaEncoding): Promise<DecodeError | null> {
  try {
    await encoding.load?.();
    return encoding.isLoaded?.() === false ? notLoaded(encoding, undefined) : null;
  } catch (cause) {
    return notLoaded(encoding, cause);
  }
}

function notLoaded(encoding: SchemaEncoding, cause: unknown): DecodeError {
  const reason = isError(cause) ? thrownText(cause) : "it was not available after loading";
  return new DecodeError("unsupported-format", `expected the reader of ${encoding.name} to load, found: ${reason}`, { cause });
}
