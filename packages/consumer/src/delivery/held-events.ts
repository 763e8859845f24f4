import type { CdcEvent, RecordBatch } from "@cdckit/decode";
import type { EventHandler } from "../routing/handlers.ts";

type BatchHandler = EventHandler<readonly CdcEvent[]>;

export interface HeldGroup {
  readonly handle: BatchHandler;
  readonly events: CdcEvent[];
}

/** The events of one fetched batch that wait for its end, because their handler takes them together. */
export class HeldEvents {
  #groups: HeldGroup[] = [];
  #taken = 0;
  #firstOffset: bigint | undefined;

  /** Nothing from this offset on is handled as long as events are held; undefined where none ever were. */
  get firstOffset(): bigint | undefined {
    return this.#firstOffset;
  }

  add(handle: BatchHandler, event: CdcEvent, batch: RecordBatch, record: number): void {
    this.#firstOffset ??= batch.offsetAt(record);
    const group = this.#groups.find((candidate) => candidate.handle === handle);
    if (group === undefined) {
      this.#groups.push({ handle, events: [event] });
    } else {
      group.events.push(event);
    }
  }

  /** The next group to hand on, in the order of their first events. */
  take(): HeldGroup | undefined {
    return this.#groups[this.#taken++];
  }
}
