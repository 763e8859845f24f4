import type { FetchedPartition } from "./fetch-response.ts";

/**
 * kafkajs' own work for a fetch, about half a millisecond, is small beside that for so many records. More would only be held for longer: what
 * outlives two collections of young objects is held until the next large one.
 */
const wantedRecords = 8_000;

/**
 * A fetch that is compressed is held until all of it has been unpacked. If it unpacks to much more than this, it outlives two collections of
 * young objects, too: they begin when 32 MiB of buffers have been made.
 */
const wantedUnpackedBytes = 8_388_608;

/** How many bytes a fetch from one broker asks for, by what its records take on the wire and how far they unpack. */
export class FetchSize {
  readonly #largestMinBytes: number;
  /** What the records that are wanted take on the wire; 0 until something was fetched. */
  #bytesOfRecords = 0;
  /** How many bytes one byte of the wire has become. */
  #expansion = 1;

  /** `largestMinBytes`: 0 if fetches ask for what kafkajs asks for. */
  constructor(largestMinBytes: number) {
    this.#largestMinBytes = largestMinBytes;
  }

  /**
   * How many bytes a fetch asks for of each of its partitions, where kafkajs asks for `askedBytes`. A fetch of one partition brings much of it, and
   * one of many what kafkajs asks for. Only a fetch of one partition may ask for less: a broker gives a whole batch of the first partition, however
   * large it is, and nothing of another one whose next batch is larger than what is asked for.
   */
  ofEachPartition(askedBytes: number, partitions: number): number {
    if (this.#largestMinBytes === 0) {
      return askedBytes;
    }
    const unpackable = Math.ceil(wantedUnpackedBytes / this.#expansion);
    const least = Math.min(this.#largestMinBytes, this.#bytesOfRecords, unpackable);
    const share = Math.max(askedBytes, Math.floor(least / partitions));
    return partitions === 1 ? Math.min(share, unpackable) : share;
  }

  /** Offsets without a record count as records: a fetch of a compacted topic brings fewer of them. */
  learnFrom(fetched: readonly Pick<FetchedPartition, "fromOffset" | "nextOffset" | "bytes">[]): void {
    let bytes = 0;
    let offsets = 0;
    for (const one of fetched) {
      bytes += one.bytes.length;
      offsets += Number(one.nextOffset - one.fromOffset);
    }
    if (offsets > 0) {
      this.#bytesOfRecords = Math.ceil((bytes / offsets) * wantedRecords);
    }
  }

  /**
   * What is to be called when all of a fetch has been unpacked, with its length then. It is made here so that it holds nothing of the fetch: whoever
   * keeps a part of a response must not keep the rest.
   */
  learnerOf(fetchedBytes: number): (unpackedBytes: number) => void {
    return (unpackedBytes) => {
      this.#expansion = Math.max(1, unpackedBytes / fetchedBytes);
    };
  }
}
