import { headerNamesEqual, type KafkaRecord, type RecordBatch, type RecordCursor } from "@cdckit/decode";

/**
 * The record as a driver hands it over that has fetched a whole batch: key and value stand inside one larger buffer, between bytes that
 * would be read as their continuation by a reader that looks one byte too far.
 */
export function inPlace(record: KafkaRecord, neighbours: string): RecordCursor {
  const around = Buffer.from(neighbours, "latin1");
  const key = record.key ?? Buffer.alloc(0);
  const value = record.value ?? Buffer.alloc(0);
  const fetched = Buffer.concat([around, key, around, value, around]);
  const keyStart = around.length;
  const keyEnd = keyStart + key.length;
  const valueStart = keyEnd + around.length;
  const valueEnd = valueStart + value.length;
  return {
    batch: batchOfOne(record),
    record: 0,
    keyBytes: record.key === null ? null : fetched,
    keyStart,
    keyEnd,
    valueBytes: record.value === null ? null : fetched,
    valueStart,
    valueEnd,
  };
}

function batchOfOne(record: KafkaRecord): RecordBatch {
  return {
    topic: record.topic,
    partition: record.partition,
    offsetAt: () => record.offset,
    timestampAt: () => record.timestamp,
    headersAt: () => record.headers,
    keyAt: () => record.key,
    valueAt: () => record.value,
    headerNamesAre: (_record, names) => headerNamesEqual(record.headers, names),
  };
}
