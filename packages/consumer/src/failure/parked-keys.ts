import type { PartitionAssignment } from "../driver.ts";
import type { RecordPlace } from "./record-place.ts";

/**
 * The keys whose later records follow an earlier one to the dead letters, so that their order is kept. They are known while their partition
 * is held. Records without a key have no order among themselves.
 */
export class ParkedKeys {
  readonly #maxKeys: number;
  readonly #byAssignment = new Map<PartitionAssignment, Map<string, bigint>>();
  #count = 0;

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
  }

  /** How many keys are parked. Asked for every record, so that the rest is asked only if there are any. */
  get count(): number {
    return this.#count;
  }

  /** Whether parking the record's key would make one too many. A record without a key parks none. */
  wouldPassLimit(place: RecordPlace): boolean {
    return this.#count >= this.#maxKeys && place.batch.keyAt(place.record) !== null && this.#firstOf(place) === undefined;
  }

  /**
   * The offset of the dead letter of the record's key that comes before the record. Undefined if there is none: with concurrency, and with
   * batches, a later record of the key may have been parked first.
   */
  behind(place: RecordPlace): bigint | undefined {
    const first = this.#firstOf(place);
    return first !== undefined && first < place.batch.offsetAt(place.record) ? first : undefined;
  }

  /** Where the record's key was parked. Undefined if it is not. */
  #firstOf({ assignment, batch, record }: RecordPlace): bigint | undefined {
    const key = batch.keyAt(record);
    return key === null ? undefined : this.#byAssignment.get(assignment)?.get(textOf(key));
  }

  /** Later records of this record's key are parked from here on. */
  park({ assignment, batch, record }: RecordPlace): void {
    const key = batch.keyAt(record);
    if (key === null) {
      return;
    }
    const keys = this.#byAssignment.get(assignment) ?? new Map<string, bigint>();
    this.#byAssignment.set(assignment, keys);
    if (!keys.has(textOf(key))) {
      keys.set(textOf(key), batch.offsetAt(record));
      this.#count++;
    }
  }

  /** The partitions are not held any more. */
  release(assignments: readonly PartitionAssignment[]): void {
    for (const assignment of assignments) {
      this.#count -= this.#byAssignment.get(assignment)?.size ?? 0;
      this.#byAssignment.delete(assignment);
    }
  }
}

/** One character for each byte: different bytes give different texts. */
function textOf(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString("latin1");
}
