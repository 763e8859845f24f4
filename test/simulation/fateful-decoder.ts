import { type CdcEvent, DecodeError, type Decoder, type RecordCursor } from "@cdckit/decode";
import type { Clock, FetchedBatch } from "@cdckit/consumer";
import type { Holding } from "./holding.ts";
import type { Fact, Oracle } from "./oracle.ts";

/** An event as the simulation makes it: it knows where it comes from. */
export type SimulatedEvent = CdcEvent & {
  readonly id: number;
  readonly part: number;
  readonly fact: Fact;
  readonly holding: Holding;
};

export interface FatefulDecoderParts {
  readonly clock: Clock;
  readonly oracle: Oracle;
  readonly isRegistryDown: () => boolean;
  readonly holdingOf: (batch: FetchedBatch) => Holding;
  readonly unknownForMs: number;
  /** When the record was stored. */
  readonly storedAtMs: (id: number) => number;
  /** Told when a stream takes an event to hand it out; null if nothing is read as a stream. */
  readonly handedOut: ((fact: Fact, holding: Holding) => void) | null;
}

/** Decodes as the fates of the records have it. */
export class FatefulDecoder implements Decoder {
  readonly #parts: FatefulDecoderParts;
  readonly #known = new Set<number>();

  constructor(parts: FatefulDecoderParts) {
    this.#parts = parts;
  }

  decodeAt({ batch, record }: RecordCursor): readonly CdcEvent[] | Promise<readonly CdcEvent[]> {
    const { oracle, clock, holdingOf, handedOut } = this.#parts;
    const offset = batch.offsetAt(record);
    const fact = oracle.factOf(batch.valueAt(record));
    oracle.decoded(fact, batch.partition, offset);
    if (fact === undefined) {
      return [];
    }
    const holding = holdingOf(batch as FetchedBatch); // the consumer decodes what it was handed over
    const events = (): readonly CdcEvent[] => {
      const all = eventsOf(fact, holding, batch.topic);
      return handedOut === null ? all : watched(all, () => handedOut(fact, holding));
    };
    const isFirst = !this.#known.has(fact.record.id);
    switch (fact.record.fate) {
      case "broken":
        throw new DecodeError("malformed", "as its fate is");
      case "never-known":
        return Promise.reject(new DecodeError("schema-not-found", "as its fate is"));
      case "unknown-at-first":
        return this.#isUnknown(fact.record.id) ? Promise.reject(new DecodeError("schema-not-found", "not yet")) : events();
      case "needs-registry":
        if (isFirst && this.#parts.isRegistryDown()) {
          return Promise.reject(new DecodeError("schema-unavailable", "the registry is down"));
        }
        this.#known.add(fact.record.id);
        return events();
      case "late-schema":
        this.#known.add(fact.record.id);
        return isFirst ? new Promise((resolve) => void clock.after(5, () => resolve(events()))) : events();
      default:
        return events();
    }
  }

  decode(): never {
    throw new Error("not used");
  }

  explain(): never {
    throw new Error("not used");
  }

  #isUnknown(id: number): boolean {
    const { clock, storedAtMs, unknownForMs } = this.#parts;
    return clock.nowMs() < storedAtMs(id) + unknownForMs;
  }
}

function eventsOf(fact: Fact, holding: Holding, topic: string): readonly CdcEvent[] {
  const { record, offset } = fact;
  if (record.fate === "empty") {
    return [];
  }
  const table = { database: null, schema: "s", name: record.fate === "filtered" ? "other" : "t" };
  const event = (part: number): CdcEvent =>
    ({
      kind: record.fate === "truncate" ? "truncate" : "row",
      table,
      row: {},
      schemaId: null,
      record: { topic, partition: record.partition, offset },
      id: record.id,
      part,
      fact,
      holding,
    }) as unknown as CdcEvent; // as much of one as is read
  return record.fate === "double" ? [event(0), event(1)] : [event(0)];
}

/** A stream looks at an event in the moment in which it hands it out, and its reader sees it some promises later. */
function watched(events: readonly CdcEvent[], taken: () => void): readonly CdcEvent[] {
  const get = (event: CdcEvent): CdcEvent => {
    taken();
    return event;
  };
  return Object.defineProperties(
    [...events],
    Object.fromEntries(events.map((event, at) => [at, { get: () => get(event) }])),
  ) as readonly CdcEvent[]; // the same members
}
