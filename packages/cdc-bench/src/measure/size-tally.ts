/** Sizes up to here are counted one by one in an array, larger ones in a map: a count must cost less than what it counts. */
const smallSizes = 16_384;

/** Exact statistics of message sizes. */
export interface SizeSummary {
  readonly count: number;
  readonly totalBytes: number;
  readonly avgBytes: number;
  readonly medianBytes: number;
  readonly p99Bytes: number;
  readonly maxBytes: number;
}

/** Counts sizes so that any percentile of them is exact. */
export class SizeTally {
  readonly #small = new Uint32Array(smallSizes);
  readonly #large = new Map<number, number>();
  #count = 0;
  #totalBytes = 0;

  add(bytes: number): void {
    this.#count++;
    this.#totalBytes += bytes;
    if (bytes < smallSizes) {
      this.#small[bytes]!++;
    } else {
      this.#large.set(bytes, (this.#large.get(bytes) ?? 0) + 1);
    }
  }

  get count(): number {
    return this.#count;
  }

  get totalBytes(): number {
    return this.#totalBytes;
  }

  summary(): SizeSummary {
    return {
      count: this.#count,
      totalBytes: this.#totalBytes,
      avgBytes: this.#count === 0 ? 0 : this.#totalBytes / this.#count,
      medianBytes: this.#atRank(0.5),
      p99Bytes: this.#atRank(0.99),
      maxBytes: this.#atRank(1),
    };
  }

  /** The smallest size that at least this share of all sizes does not exceed (nearest rank). */
  #atRank(share: number): number {
    let remaining = Math.max(1, Math.ceil(this.#count * share));
    for (const [bytes, count] of this.#bySize()) {
      remaining -= count;
      if (remaining <= 0) {
        return bytes;
      }
    }
    return 0;
  }

  *#bySize(): Generator<readonly [number, number]> {
    for (let bytes = 0; bytes < smallSizes; bytes++) {
      const count = this.#small[bytes]!;
      if (count > 0) {
        yield [bytes, count];
      }
    }
    yield* [...this.#large].sort(([a], [b]) => a - b);
  }
}
