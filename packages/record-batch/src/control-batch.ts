import { malformed } from "./errors.ts";
import { afterVarint, varintAt } from "./varint.ts";

const abortType = 0;
/** ControlRecordKey => version int16, type int16. */
const keyBytes = 4;

/**
 * Whether the control batch is an abort marker, by its first record. `records` are its records after `checkRecords`. A control batch without
 * records ends no transaction.
 */
export function isAbortMarker(records: Uint8Array): boolean {
  if (records.length === 0) {
    return false;
  }
  const timestampAt = afterVarint(records, 0) + 1; // after the length and the attributes
  const keyAt = afterVarint(records, afterVarint(records, timestampAt));
  const length = varintAt(records, keyAt);
  if (length < keyBytes) {
    throw malformed("the key of a control record", `at least ${keyBytes} bytes`, length);
  }
  const typeAt = afterVarint(records, keyAt) + 2;
  return ((records[typeAt] as number) << 8) + (records[typeAt + 1] as number) === abortType; // the key is long enough
}
