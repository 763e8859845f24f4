import { createDecoder, type KafkaRecord, type TopicHints } from "@cdckit/decode";
import type { ReadingCodec } from "../codec.ts";
import type { Row } from "../data-sets.ts";

const topic = "codec";
const place = { topic, partition: 0, offset: 0n, timestamp: 0n, headers: [], key: null };

/** Our decoder as a reader of one row: from bytes of another codec to the columns of the row. */
export function cdckitRowReader(name: string, reads: string, hints: TopicHints): ReadingCodec<Row> {
  const read = rowsReader(hints);
  return {
    name,
    reads,
    deserialize(bytes) {
      const row = read(bytes)[0];
      if (row === undefined) {
        throw new Error("the message holds no row");
      }
      return row;
    },
  };
}

/** Our decoder as a reader of messages that hold many rows, as container files do. */
export function cdckitRowsReader(name: string, reads: string, hints: TopicHints): ReadingCodec<readonly Row[]> {
  return { name, reads, deserialize: rowsReader(hints) };
}

function rowsReader(hints: TopicHints): (bytes: Uint8Array) => readonly Row[] {
  const decoder = createDecoder({ topics: { [topic]: hints } });
  return (bytes) => {
    const record: KafkaRecord = { ...place, value: bytes };
    const events = decoder.decode(record);
    if (events instanceof Promise) {
      throw new Error("the decoder waits for a schema, although a hint gives it");
    }
    return events.map((event) => {
      if (event.kind !== "row") {
        throw new Error(`expected a row, found a ${event.kind}: the decoder took the row for an envelope`);
      }
      return event.row;
    });
  };
}
