import { createHash } from "node:crypto";
import type { Target } from "./tables.ts";

/** To which table a row went, or would have gone: null if its table is left out. */
export type RowTarget = Target | null;

/** A delete whose tombstone has not come: the hash of its key, and the table of its row. */
export type OpenDelete = readonly [keyHash: string, target: RowTarget];

/** A tombstone comes right after its delete. Between them are records of other connectors that write to the same partition, at most. */
const maxDeletes = 1_000;
/** So many deletes without a tombstone are kept with the checkpoint. */
const maxOpen = 10;
const hashChars = 22;

/** The tables of the rows that were deleted last in a partition, by key: nothing but the key is left in the tombstone that follows. */
export class DeletedKeys {
  /** By the hash of the key: a key may have any length. */
  readonly #byHash = new Map<string, { readonly target: RowTarget; readonly isOpen: boolean }>();

  constructor(open: readonly OpenDelete[] = []) {
    for (const [hash, target] of open) {
      this.#byHash.set(hash, { target, isOpen: true });
    }
  }

  /** Those of the last deletes whose tombstones have not come. */
  get open(): readonly OpenDelete[] {
    return [...this.#byHash]
      .flatMap(([hash, { target, isOpen }]): readonly OpenDelete[] => (isOpen ? [[hash, target]] : []))
      .slice(-maxOpen);
  }

  deleted(keyName: string, target: RowTarget): void {
    const hash = hashOf(keyName);
    this.#byHash.delete(hash); // so that it is the last one
    this.#byHash.set(hash, { target, isOpen: true });
    if (this.#byHash.size > maxDeletes) {
      const [oldest = ""] = this.#byHash.keys();
      this.#byHash.delete(oldest);
    }
  }

  /** A tombstone has come: the table of the delete before it, or undefined if none is known. */
  buried(keyName: string): RowTarget | undefined {
    const hash = hashOf(keyName);
    const found = this.#byHash.get(hash);
    if (found?.isOpen === true) {
      this.#byHash.set(hash, { ...found, isOpen: false });
    }
    return found?.target;
  }
}

function hashOf(keyName: string): string {
  return createHash("sha256").update(keyName).digest("base64").slice(0, hashChars);
}
