import type { KafkaRecord } from "@cdckit/decode";
import type { AppendedRecord, MemoryBroker } from "./memory-broker.ts";

/** A producer's transaction: its records are read after it is committed, and until then they hold back the records after them. */
export class MemoryTransaction {
  readonly #broker: MemoryBroker;
  readonly #records = new Set<KafkaRecord>();
  #isOpen = true;

  constructor(broker: MemoryBroker) {
    this.#broker = broker;
  }

  /** Writes records, which nobody reads before the commit, and returns them as they are stored. Throws if the transaction has ended. */
  append(topic: string, ...records: readonly AppendedRecord[]): readonly KafkaRecord[] {
    this.#refuseUnlessOpen();
    const stored = records.map((record) => this.#broker.store(topic, record, this));
    for (const record of stored) {
      this.#records.add(record);
    }
    return stored;
  }

  /** Makes its records readable. Throws if the transaction has ended. */
  commit(): void {
    this.#end(null);
  }

  /** The records stay unread for ever; their offsets are a gap. */
  abort(): void {
    this.#end(this.#records);
  }

  #end(aborted: ReadonlySet<KafkaRecord> | null): void {
    this.#refuseUnlessOpen();
    this.#isOpen = false;
    const logs = new Set([...this.#records].map(({ topic, partition }) => this.#broker.log(topic, partition)));
    for (const log of logs) {
      log.endTransaction(this, aborted);
    }
    this.#broker.wake();
  }

  #refuseUnlessOpen(): void {
    if (!this.#isOpen) {
      throw new RangeError("the transaction has ended");
    }
  }
}
