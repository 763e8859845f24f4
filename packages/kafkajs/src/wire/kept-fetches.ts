import { randomBytes } from "node:crypto";
import { crc32c } from "@cdckit/record-batch";
import type { AskedRecords } from "./fetch-request.ts";
import type { FetchedPartition } from "./fetch-response.ts";

const markBytes = 16;
const numberBytes = 8;
/** The version of responses from which on they have record batches. In those before, kafkajs reads only messages of the older formats. */
const batchesFrom = 4;

/** The part of kafkajs' messages that is used here. */
export interface StandInMessage {
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
}

/** What is kept of a response, and who learns from it. */
export interface KeptFetch extends FetchedPartition {
  /** Called when all of it has been read, with what its batches took when they were unpacked. */
  readonly unpackedTo: (byteLength: number) => void;
}

/**
 * The record batches that were taken out of Fetch responses, until kafkajs hands over the record that stands for them. kafkajs asks a broker
 * for more only when it is done with what that broker sent, so at most one response a broker is kept.
 */
export class KeptFetches {
  /** Topics that a broker has kept from the user: who has no right to read ends, and has to know of which topic. */
  readonly refused: Set<string> = new Set();
  /**
   * Called with what was asked for, and with the pause that the broker wants: 0 if it wants none. Not for a response with records whose broker wants one.
   */
  paced: (asked: AskedRecords["offsets"], throttleMs: number) => void = () => {};
  readonly #mark: Buffer = randomBytes(markBytes);
  readonly #byBroker = new Map<string, Map<bigint, KeptFetch>>();
  #last = 0n;
  /** The highest that the least bytes of a fetch which is to be kept get; see `FetchSize`. */
  readonly largestMinFetchBytes: number;

  constructor(largestMinFetchBytes = 0) {
    this.largestMinFetchBytes = largestMinFetchBytes;
  }

  /** Keeps it, and returns what stands for it in a response of this version: one record at the offset that was asked for. */
  keep(broker: string, fetched: KeptFetch, version: number): Buffer {
    const kept = this.#byBroker.get(broker) ?? new Map<bigint, KeptFetch>();
    this.#byBroker.set(broker, kept);
    this.#last++;
    kept.set(this.#last, fetched);
    return (version < batchesFrom ? messageOf : batchOf)(fetched.fromOffset, this.#mark, this.#last);
  }

  /** What the message stands for. It is given once. Undefined if it is not kept any more, and for any other message. */
  take({ key, value }: StandInMessage): KeptFetch | undefined {
    if (key === null || !this.#mark.equals(key)) {
      return undefined;
    }
    const number = Buffer.from(value ?? []).readBigInt64BE();
    for (const kept of this.#byBroker.values()) {
      const fetched = kept.get(number);
      if (fetched !== undefined) {
        kept.delete(number);
        return fetched;
      }
    }
    return undefined;
  }

  /** kafkajs asks this broker for more. */
  forget(broker: string): void {
    this.#byBroker.delete(broker);
  }

  clear(): void {
    this.#byBroker.clear();
  }
}

/** A message of format 0. Its checksum is left out, because kafkajs does not look at it. https://kafka.apache.org/documentation/#messageset */
function messageOf(offset: bigint, mark: Uint8Array, number: bigint): Buffer {
  const message = Buffer.alloc(12 + 6 + 4 + markBytes + 4 + numberBytes);
  message.writeBigInt64BE(offset, 0);
  message.writeInt32BE(message.length - 12, 8);
  message.writeInt32BE(markBytes, 18);
  message.set(mark, 22);
  message.writeInt32BE(numberBytes, 22 + markBytes);
  message.writeBigInt64BE(number, 26 + markBytes);
  return message;
}

/** https://kafka.apache.org/documentation/#recordbatch */
function batchOf(offset: bigint, mark: Uint8Array, number: bigint): Buffer {
  const batch = Buffer.alloc(61 + 5 + markBytes + 1 + numberBytes + 1);
  batch.writeBigInt64BE(offset, 0);
  batch.writeInt32BE(batch.length - 12, 8);
  batch.writeInt32BE(-1, 12); // leader epoch
  batch.writeInt8(2, 16); // magic
  batch.writeBigInt64BE(-1n, 43); // producer id
  batch.writeInt16BE(-1, 51); // producer epoch
  batch.writeInt32BE(-1, 53); // sequence
  batch.writeInt32BE(1, 57); // number of records
  batch.set([zigzag(batch.length - 62), 0, 0, 0, zigzag(markBytes)], 61); // length, attributes, timestamp, offset, length of the key
  batch.set(mark, 66);
  batch[66 + markBytes] = zigzag(numberBytes);
  batch.writeBigInt64BE(number, 67 + markBytes);
  batch.writeUInt32BE(crc32c(batch, 21, batch.length), 17);
  return batch;
}

/** A varint of one byte. */
function zigzag(value: number): number {
  return value * 2;
}
