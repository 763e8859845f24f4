import type { Clock, Consumer, OutgoingRecord, SinkBatch } from "@cdckit/consumer";
import type { SimulatedEvent } from "./fateful-decoder.ts";
import type { Oracle } from "./oracle.ts";
import { calmFromMs, type Fate, type Plan } from "./plan.ts";
import type { SinkStore } from "./sink-store.ts";
import type { WatchedProcess } from "./watched-process.ts";

/** How often an attempt at a record fails. */
const failuresOf: Partial<Record<Fate, number>> = {
  "fails-once": 1,
  truncate: 1,
  "fails-twice": 2,
  transient: 1,
  poison: Infinity,
  mistake: Infinity,
};

/** Handlers, batch handlers, readers of streams and sinks that take their time, and fail as the fates of the records have it. */
export class FatefulHandlers {
  readonly #plan: Plan;
  readonly #oracle: Oracle;
  /** Failed attempts at a record, by whatever member. */
  readonly #failed = new Map<number, number>();
  #calls = 0;

  constructor(plan: Plan, oracle: Oracle) {
    this.#plan = plan;
    this.#oracle = oracle;
  }

  each(process: WatchedProcess): (event: SimulatedEvent) => void | Promise<void> {
    const handle = this.batch(process);
    return (event) => handle([event]);
  }

  batch(process: WatchedProcess): (events: readonly SimulatedEvent[]) => void | Promise<void> {
    return (events) => {
      const [first] = events;
      if (process.isDead || first === undefined) {
        return new Promise(() => {}); // a dead process does nothing
      }
      const { holding } = first;
      this.#oracle.starts(first.fact, holding);
      this.#checkBounds(events, holding.active + 1);
      holding.active++;
      const end = (): void => {
        holding.workEnded(process.clock.nowMs());
        this.#failWhereDue(events);
        for (const { fact, part } of events) {
          this.#oracle.ended(fact, part, holding);
        }
      };
      const delayMs = this.#delayMs(first.fact.record.partition, process.clock);
      return delayMs === 0 ? end() : pass(process.clock, delayMs).then(end);
    };
  }

  async apply(process: WatchedProcess, store: SinkStore, batch: SinkBatch, reach: () => Promise<void>): Promise<void> {
    const holding = process.holdingOf(batch.assignment);
    this.#oracle.refuseGone(holding, `${store.name} is written to`);
    holding.active++;
    try {
      const delayMs = this.#delayMs(batch.assignment.partition, process.clock);
      if (delayMs > 0) {
        await pass(process.clock, delayMs);
      }
      await reach();
      const events = batch.events as unknown as readonly SimulatedEvent[]; // as the decoder made them
      this.#failWhereDue(events);
      store.apply(batch);
    } catch (error) {
      if ((error as { code?: string }).code === "fenced") {
        holding.excuseBy(`${store.name} has another owner`);
      }
      throw error;
    } finally {
      holding.workEnded(process.clock.nowMs());
    }
  }

  /** The records that events become. */
  pipe(process: WatchedProcess): (events: readonly SimulatedEvent[]) => Promise<OutgoingRecord[]> {
    return async (events) => {
      const [first] = events;
      if (process.isDead || first === undefined) {
        return new Promise(() => {});
      }
      this.#oracle.refuseGone(first.holding, `${events.length} events are piped`);
      const delayMs = this.#delayMs(first.fact.record.partition, process.clock);
      if (delayMs > 0) {
        await pass(process.clock, delayMs);
      }
      this.#failWhereDue(events);
      return events.map(({ fact, part }) => {
        const value = Buffer.from(`${fact.record.partition}:${fact.offset}:${part}`);
        return { topic: "out", partition: 0, key: null, value, headers: [] };
      });
    };
  }

  async readAll(process: WatchedProcess, consumer: Consumer, called: () => void): Promise<void> {
    for await (const delivery of consumer.stream()) {
      if (process.isDead) {
        await new Promise(() => {});
      }
      const { fact, part, holding } = delivery.event as unknown as SimulatedEvent;
      called();
      if (fact.record.fate !== "filtered") {
        this.#oracle.starts(fact, holding);
      }
      const end = (): void => {
        if (!process.isDead) {
          holding.workEnded(process.clock.nowMs());
          this.#oracle.ended(fact, part, holding);
          delivery.done();
        }
      };
      const delayMs = this.#delayMs(fact.record.partition, process.clock);
      if (delayMs > 0 && this.#calls % 3 === 0) {
        void pass(process.clock, delayMs).then(end);
      } else if (delayMs > 0) {
        await pass(process.clock, delayMs).then(end);
      } else {
        end();
      }
    }
  }

  #delayMs(partition: number, clock: Clock): number {
    const { delaysMs, stalledPartition } = this.#plan;
    const stalledForMs = calmFromMs(this.#plan) - clock.nowMs();
    if (partition === stalledPartition && stalledForMs > 0) {
      return stalledForMs;
    }
    return delaysMs[this.#calls++ % delaysMs.length] ?? 0;
  }

  #checkBounds(events: readonly SimulatedEvent[], running: number): void {
    const { delivery, reads, workers } = this.#plan;
    const { batch } = delivery;
    const parts = new Set(events.map(({ id }) => id)).size === 1;
    if (batch?.maxEvents !== undefined && events.length > batch.maxEvents && !parts) {
      this.#oracle.violate(`a batch of ${events.length} events was handed on, and ${batch.maxEvents} may be`);
    }
    if (reads === "handlers" && running > delivery.concurrency && workers === 1) {
      this.#oracle.violate(`${running} handlers are at work on one partition, and ${delivery.concurrency} may be`);
    }
  }

  /** All of them count an attempt: a batch that is handed on again is attempted as a whole. */
  #failWhereDue(events: readonly SimulatedEvent[]): void {
    let error: Error | null = null;
    for (const { id, part, fact } of events) {
      const times = this.#failed.get(id) ?? 0;
      if (part === 0 && times < (failuresOf[fact.record.fate] ?? 0)) {
        this.#failed.set(id, times + 1);
        error ??= errorOf(fact.record.fate);
      }
    }
    if (error !== null) {
      throw error;
    }
  }
}

function errorOf(fate: Fate): Error {
  if (fate === "mistake") {
    return new TypeError("as its fate is");
  }
  return fate === "transient" ? Object.assign(new Error("reset"), { code: "ECONNRESET" }) : new Error("as its fate is");
}

function pass(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve));
}
