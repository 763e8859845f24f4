import type { CdcEvent, Decoder, RecordCursor } from "@cdckit/decode";
import type { Counters } from "./observe/counters.ts";
import type { Logger } from "./observe/logger.ts";

/** A record to skip. */
export interface RecordName {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
}

/** A decoder that finds nothing in the records that are named. They are committed without being read, logged and counted. */
export function skippingDecoder(
  decoder: Decoder,
  skip: readonly RecordName[],
  { logger, counters }: { logger: Logger; counters: Counters },
): Decoder {
  if (skip.length === 0) {
    return decoder;
  }
  const named = new Set(skip.map(nameOf));
  // Asked for every record: if nobody names the offset, no text must be made for the lookup.
  const offsets = new Set(skip.map(({ offset }) => offset));
  return {
    decode: (record) => decoder.decode(record),
    explain: (record) => decoder.explain(record),
    decodeAt: (cursor: RecordCursor): readonly CdcEvent[] | Promise<readonly CdcEvent[]> => {
      const { topic, partition } = cursor.batch;
      const offset = cursor.batch.offsetAt(cursor.record);
      if (!offsets.has(offset)) {
        return decoder.decodeAt(cursor);
      }
      const at = { topic, partition, offset };
      if (!named.has(nameOf(at))) {
        return decoder.decodeAt(cursor);
      }
      counters.skipped++;
      logger.warn({ ...at }, "a record is skipped because failure.skip names it; it is committed without being read");
      return [];
    },
  };
}

function nameOf({ topic, partition, offset }: RecordName): string {
  return `${partition}:${offset}:${topic}`;
}
