import type { FetchedPartition } from "./fetch-response.ts";

/**
 * kafkajs' own work for a fetch, about half a millisecond, is small beside that for so many records. More would only be held for longer: what
 * outlives two collections of young objects is held until the next large one.
 */
const wantedRecords = 8_000;

/** How many bytes a fetch from one broker asks for at least, by what its records take on the wire. */
export class FetchSize {
  readonly #largestMinBytes: number;
  #minBytes = 0;

  /** `largestMinBytes`: 0 if fetches ask for what kafkajs asks for. */
  constructor(largestMinBytes: number) {
    this.#largestMinBytes = largestMinBytes;
  }

  /** 0 until something was fetched. */
  get minBytes(): number {
    return this.#minBytes;
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
      this.#minBytes = Math.min(this.#largestMinBytes, Math.ceil((bytes / offsets) * wantedRecords));
    }
  }
}
