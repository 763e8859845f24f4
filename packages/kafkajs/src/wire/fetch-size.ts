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

/** How many bytes a fetch from one broker asks for at least, by what its records take on the wire and how far they unpack. */
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

  /** 0 until something was fetched. */
  get minBytes(): number {
    return Math.min(this.#largestMinBytes, this.#bytesOfRecords, Math.ceil(wantedUnpackedBytes / this.#expansion));
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

  /** All of a fetch has been unpacked, and was so long after it. */
  unpacked({ bytes }: Pick<FetchedPartition, "bytes">, unpackedBytes: number): void {
    this.#expansion = Math.max(1, unpackedBytes / bytes.length);
  }
}
