import type { CdcEvent, Decoder, RecordCursor } from "@cdckit/decode";
import type { Counters } from "./observe/counters.ts";
import type { Logger } from "./observe/logger.ts";

/** A record that is to be passed over. */
export interface RecordName {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
}

/** A decoder that finds nothing in the records that are named: they are committed unread, logged and counted. */
export function skippingDecoder(
  decoder: Decoder,
  skip: readonly RecordName[],
  { logger, counters }: { logger: Logger; counters: Counters },
): Decoder {
  if (skip.length === 0) {
    return decoder;
  }
  const named = new Set(skip.map(nameOf));
  return {
    decode: (record) => decoder.decode(record),
    explain: (record) => decoder.explain(record),
    decodeAt: (cursor: RecordCursor): readonly CdcEvent[] | Promise<readonly CdcEvent[]> => {
      const { topic, partition } = cursor.batch;
      const at = { topic, partition, offset: cursor.batch.offsetAt(cursor.record) };
      if (!named.has(nameOf(at))) {
        return decoder.decodeAt(cursor);
      }
      counters.skipped++;
      logger.warn({ ...at }, "a record is skipped, as failure.skip names it: it is committed unread");
      return [];
    },
  };
}

function nameOf({ topic, partition, offset }: RecordName): string {
  return `${partition}:${offset}:${topic}`;
}
