import type { Fence } from "../delivery/fence.ts";
import type { OutgoingRecord, PartitionAssignment } from "../driver.ts";

/** What became of a letter: "fenced" if its partition went, or may belong to another member, before it was known to be written. */
export type DeadLetterOutcome = "written" | "fenced" | { readonly error: unknown; readonly wasAlone: boolean };

interface Letter {
  readonly record: OutgoingRecord;
  readonly assignment: PartitionAssignment;
  readonly fence: Fence;
  /** It is written with no other one, so that a failure is its own. */
  readonly isAlone: boolean;
  readonly settle: (outcome: DeadLetterOutcome) => void;
}

/** What is written together: far below what brokers accept as one batch. */
const maxLetters = 500;
const maxBytes = 262_144;

/**
 * Writes dead letters in the order in which they come, one write after the other. Letters that come during a write go together with the next
 * one: each alone would wait for the answers to all of those before it.
 */
export class DeadLetterWriter {
  readonly #send: (records: readonly OutgoingRecord[]) => Promise<void>;
  readonly #waiting: Letter[] = [];
  #inHand: readonly Letter[] = [];
  #isWriting = false;

  constructor(send: (records: readonly OutgoingRecord[]) => Promise<void>) {
    this.#send = send;
  }

  /** Never rejects. If nothing is being written, the write begins in the same turn. */
  write(record: OutgoingRecord, assignment: PartitionAssignment, fence: Fence, isAlone: boolean): Promise<DeadLetterOutcome> {
    return new Promise((settle) => {
      this.#waiting.push({ record, assignment, fence, isAlone, settle });
      if (!this.#isWriting) {
        void this.#writeAll();
      }
    });
  }

  /** The partitions are given up: their next owner writes these letters again, whatever becomes of a write that is not answered. */
  release(assignments: readonly PartitionAssignment[]): void {
    const gone = [...this.#inHand, ...this.#waiting].filter(({ assignment }) => assignments.includes(assignment));
    gone.forEach(({ settle }) => settle("fenced"));
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      const letters = this.#next();
      if (letters.length > 0) {
        this.#inHand = letters;
        const outcome = await this.#outcomeOf(letters);
        this.#inHand = [];
        letters.forEach(({ settle }) => settle(outcome));
      }
    }
    this.#isWriting = false;
  }

  /** The next letters that may be written. The wait may be long, so each fence is asked again. */
  #next(): readonly Letter[] {
    const letters = this.#waiting.splice(0, this.#countOfNext());
    letters.filter(isFenced).forEach(({ settle }) => settle("fenced"));
    return letters.filter((letter) => !isFenced(letter));
  }

  #countOfNext(): number {
    let bytes = 0;
    const end = this.#waiting.findIndex(({ record, isAlone }, index) => {
      bytes += sizeOf(record);
      return index > 0 && (isAlone || this.#waiting[0]?.isAlone === true || index === maxLetters || bytes > maxBytes);
    });
    return end === -1 ? this.#waiting.length : end;
  }

  async #outcomeOf(letters: readonly Letter[]): Promise<DeadLetterOutcome> {
    try {
      await this.#send(letters.map(({ record }) => record));
      return "written";
    } catch (error) {
      return { error, wasAlone: letters.length === 1 };
    }
  }
}

function isFenced({ fence }: Letter): boolean {
  return fence.isClosed || fence.mustWait;
}

function sizeOf({ key, value, headers }: OutgoingRecord): number {
  const ofHeaders = headers.reduce((sum, [name, content]) => sum + name.length + (content?.length ?? 0), 0);
  return (key?.length ?? 0) + (value?.length ?? 0) + ofHeaders;
}
