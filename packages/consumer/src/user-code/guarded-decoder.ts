import type { CdcEvent, Decoder, RecordCursor, SchemaId, SchemaSource } from "@cdckit/decode";
import { callUser } from "./user-functions.ts";
import { pendingOf, readText } from "./user-value.ts";

/** A decoder of the user's. Its results are events, or a promise of the language's own, or it throws. */
export function guardedDecoder(decoder: Decoder): Decoder {
  return {
    decode: (record) => decoder.decode(record),
    explain: (record) => decoder.explain(record),
    decodeAt: (cursor: RecordCursor): readonly CdcEvent[] | Promise<readonly CdcEvent[]> => {
      const decoded: unknown = decoder.decodeAt(cursor);
      return Array.isArray(decoded) ? decoded : (pendingOf(decoded)?.then(eventsOf) ?? eventsOf(decoded));
    },
  };
}

function eventsOf(decoded: unknown): readonly CdcEvent[] {
  if (!Array.isArray(decoded)) {
    throw new TypeError(`expected an array of events from decodeAt(), found ${decoded === null ? "null" : typeof decoded}`);
  }
  return decoded as readonly CdcEvent[]; // their contents are checked by who uses them
}

/** A schema source of the user's. If its `peek` throws, the consumer halts: it could never get a schema from it. */
export function guardedSource(source: SchemaSource): SchemaSource {
  const host = readText(source, "host");
  return {
    ...(host === undefined ? {} : { host }),
    peek: (id) => callUser("registry.peek()", () => source.peek(id)),
    load: async (id) => source.load(id),
    lastFailure: (id) => failureOf(source, id),
  };
}

/** A report is made of what is known, whatever a source throws. */
function failureOf(source: SchemaSource, id: SchemaId): unknown {
  try {
    return source.lastFailure?.(id);
  } catch {
    return undefined;
  }
}
