import type { CdcEvent, RecordBatch } from "@cdckit/decode";
import { noTries, type Tries } from "../failure/retry-policy.ts";
import type { BatchHandler } from "./route-events.ts";

export interface HeldGroup {
  readonly handle: BatchHandler;
  readonly events: CdcEvent[];
  /** The batch's handle of the record of each event. */
  readonly records: number[];
  /** The same of its ordinal; see `RecordPlace`. */
  readonly ordinals: number[];
  readonly tries: Tries;
}

/** The events of one fetched batch that wait for its end, because their handler takes them together. */
export class HeldEvents {
  #groups: HeldGroup[] = [];
  #taken = 0;
  /** Groups that are dealt with: another one was taken after them. */
  #handled = 0;
  #batch: RecordBatch | undefined;

  /** Nothing from this offset on counts as handled. Undefined if no events are held, or all of them are dealt with. */
  get firstOffset(): bigint | undefined {
    let first: bigint | undefined;
    for (let i = this.#handled; i < this.#groups.length; i++) {
      const offset = this.#batch?.offsetAt(this.#groups[i]?.records[0] as number); // no group is empty
      first = first === undefined || (offset !== undefined && offset < first) ? offset : first;
    }
    return first;
  }

  /** Events are held that are not dealt with. It is asked for every record, and `firstOffset` is not as cheap. */
  get areSomeLeft(): boolean {
    return this.#handled < this.#groups.length;
  }

  /** Some group was taken, and not put back. */
  get areSomeTaken(): boolean {
    return this.#taken > 0;
  }

  /** There is a group that {@link take} would hand on. */
  get areSomeUntaken(): boolean {
    return this.#taken < this.#groups.length;
  }

  /** The group that was taken last. */
  get current(): HeldGroup | undefined {
    return this.#groups[this.#taken - 1];
  }

  add(handle: BatchHandler, event: CdcEvent, batch: RecordBatch, record: number, ordinal: number): void {
    this.#batch = batch;
    const group = this.#groups.find((candidate) => candidate.handle === handle);
    if (group === undefined) {
      this.#groups.push({ handle, events: [event], records: [record], ordinals: [ordinal], tries: noTries() });
    } else {
      group.events.push(event);
      group.records.push(record);
      group.ordinals.push(ordinal);
    }
  }

  /** The next group to hand on. Groups are in the order of their first events. */
  take(): HeldGroup | undefined {
    this.#handled = this.#taken;
    return this.#groups[this.#taken++];
  }

  /** Takes back the group that was taken last: it comes again. */
  putBack(): void {
    this.#taken--;
  }

  /** Takes back the group that was taken last, and splits it into records: only the record to blame is set aside. */
  isolate(): void {
    const group = this.current;
    if (group !== undefined) {
      this.#taken--;
      // Not splice(): it would get each record as an argument, and the stack has room for some 120,000.
      this.#groups = [...this.#groups.slice(0, this.#taken), ...singlesOf(group), ...this.#groups.slice(this.#taken + 1)];
    }
  }
}

function singlesOf({ handle, events, records, ordinals }: HeldGroup): HeldGroup[] {
  const singles: HeldGroup[] = [];
  for (const [i, event] of events.entries()) {
    const record = records[i] as number; // one for each event
    const ordinal = ordinals[i] as number;
    const last = singles.at(-1);
    if (last !== undefined && last.records[0] === record) {
      last.events.push(event);
      last.records.push(record);
      last.ordinals.push(ordinal);
    } else {
      singles.push({ handle, events: [event], records: [record], ordinals: [ordinal], tries: noTries() });
    }
  }
  return singles;
}
