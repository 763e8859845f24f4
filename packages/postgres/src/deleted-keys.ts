import { createHash } from "node:crypto";
import type { Target } from "./table-columns.ts";

/** To which table a row went, or would have gone: null if its table is left out. */
export type RowTarget = Target | null;

/** A delete whose tombstone has not come: the hash of its key, and the table of its row. */
export type OpenDelete = readonly [keyHash: string, target: RowTarget];

/** A tombstone comes right after its delete. Between them are records of other connectors that write to the same partition, at most. */
const maxDeletes = 1_000;
/** So many deletes without a tombstone are kept with the checkpoint. */
const maxOpen = 10;
const hashChars = 22;

/**
 * The tables of the rows that were deleted last in a partition, by key, until their tombstones come: nothing but the key is left in a tombstone. What
 * is noted of a batch that is not applied can be taken back.
 */
export class DeletedKeys {
  /** By the hash of the key: a key may have any length. */
  readonly #byHash: Map<string, RowTarget>;
  /** Of what was noted since the last batch that was applied: what was there before, or undefined. */
  readonly #before = new Map<string, RowTarget | undefined>();

  constructor(open: readonly OpenDelete[] = []) {
    this.#byHash = new Map(open);
  }

  /** The last of them. */
  get open(): readonly OpenDelete[] {
    return [...this.#byHash].slice(-maxOpen);
  }

  deleted(keyName: string, target: RowTarget): void {
    const hash = hashOf(keyName);
    this.#take(hash); // so that it is the last one
    this.#byHash.set(hash, target);
    if (this.#byHash.size > maxDeletes) {
      const [oldest = ""] = this.#byHash.keys();
      this.#take(oldest);
    }
  }

  /** A row of the key has come: a tombstone that comes later is not that of a delete before it. */
  written(keyName: string, { isOf }: { readonly isOf: (target: RowTarget) => boolean }): void {
    if (this.#byHash.size > 0) {
      const hash = hashOf(keyName);
      const target = this.#byHash.get(hash);
      if (target !== undefined && isOf(target)) {
        this.#take(hash);
      }
    }
  }

  /** A tombstone has come: the table of the delete before it, or undefined if none is known. The next tombstone is not of this delete. */
  buried(keyName: string): RowTarget | undefined {
    return this.#byHash.size === 0 ? undefined : this.#take(hashOf(keyName));
  }

  /** The batch is applied. */
  applied(): void {
    this.#before.clear();
  }

  /** The batch comes again, or a part of it. */
  takeBack(): void {
    for (const [hash, target] of this.#before) {
      if (target === undefined) {
        this.#byHash.delete(hash);
      } else {
        this.#byHash.set(hash, target);
      }
    }
    this.#before.clear();
  }

  #take(hash: string): RowTarget | undefined {
    const target = this.#byHash.get(hash);
    if (!this.#before.has(hash)) {
      this.#before.set(hash, target);
    }
    this.#byHash.delete(hash);
    return target;
  }
}

function hashOf(keyName: string): string {
  return createHash("sha256").update(keyName).digest("base64").slice(0, hashChars);
}
