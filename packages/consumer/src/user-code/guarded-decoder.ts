import type { CdcEvent, Decoder, RecordCursor, SchemaSource } from "@cdckit/decode";
import { callUser } from "./user-functions.ts";
import { pendingOf, readText } from "./user-value.ts";

/** A decoder of the user's: what it gives is events, or a promise of them that is the language's own, or it throws. */
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
  return decoded as readonly CdcEvent[]; // what they hold is asked where it is used
}

/** A schema source of the user's. One whose `peek` throws halts the consumer: no schema could ever be had from it. */
export function guardedSource(source: SchemaSource): SchemaSource {
  const host = readText(source, "host");
  return {
    ...(host === undefined ? {} : { host }),
    peek: (id) => callUser("registry.peek()", () => source.peek(id)),
    load: async (id) => source.load(id),
  };
}
