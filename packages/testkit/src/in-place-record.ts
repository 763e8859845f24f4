import { headerNamesEqual, type KafkaRecord, type RecordBatch, type RecordCursor } from "@cdckit/decode";

/**
 * The record as a driver hands it over that has fetched a whole batch: key and value stand inside one larger buffer, between bytes that
 * a reader which looks one byte too far would take for more of them.
 */
export function inPlaceRecord(record: KafkaRecord, neighbours: Uint8Array): RecordCursor {
  const key = record.key ?? new Uint8Array(0);
  const value = record.value ?? new Uint8Array(0);
  const fetched = Buffer.concat([neighbours, key, neighbours, value, neighbours]);
  const keyStart = neighbours.length;
  const keyEnd = keyStart + key.length;
  const valueStart = keyEnd + neighbours.length;
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
