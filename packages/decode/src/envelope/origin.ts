import type { Columns, RecordRef } from "../event.ts";
import { type RecordBatch, type RecordHeaders, SingleRecordBatch } from "../record.ts";
import type { EnvelopeScope, Route } from "./envelope.ts";

/** The origin of a value: its record, its route and its key. All events of a value that have the same key share one origin. */
export class Origin {
  /** The key, decoded; null if the record has none. */
  readonly key: unknown;
  /** How the value was read. */
  readonly route: Route;
  /** What the topic's records have in common. */
  readonly scope: EnvelopeScope;
  #batch: RecordBatch;
  #handle: number;
  #record: RecordRef | null = null;
  #isDetached = false;

  /** `handle` is the batch's handle of the record. */
  constructor(key: unknown, route: Route, scope: EnvelopeScope, batch: RecordBatch, handle: number) {
    this.key = key;
    this.route = route;
    this.scope = scope;
    this.#batch = batch;
    this.#handle = handle;
  }

  /** The record. Its bytes belong to the batch. */
  get record(): RecordRef {
    this.#record ??= new PlacedRecord(this.#batch, this.#handle);
    return this.#record;
  }

  /** The headers of the record. Their bytes belong to the batch. */
  get headers(): RecordHeaders {
    return this.#record === null ? this.#batch.headersAt(this.#handle) : this.#record.headers;
  }

  /** The bytes of the record's value, which belong to the batch; null for a tombstone. */
  get valueBytes(): Uint8Array | null {
    return this.#batch.valueAt(this.#handle);
  }

  /** Members of the value that its envelope does not know; null if there are none. */
  get extra(): Columns | null {
    return null;
  }

  /** The same origin with more members that the envelope does not know. */
  withExtra(extra: Columns): Origin {
    return new OriginWithExtra({ ...this.extra, ...extra }, this.key, this.route, this.scope, this.#batch, this.#handle);
  }

  /** Adds the columns that were sent with an event that has no row, except those that are null. */
  withColumns(columns: Columns): Origin {
    const sent = Object.entries(columns).filter(([, value]) => value !== null);
    return sent.length === 0 ? this : this.withExtra(Object.fromEntries(sent));
  }

  /** The same origin for an event whose key the message states itself. */
  withKey(key: unknown): Origin {
    return new Origin(key, this.route, this.scope, this.#batch, this.#handle);
  }

  /** The same origin for a message that lay inside of another one and was read in its own way. */
  withRoute(route: Route): Origin {
    return new Origin(this.key, route, this.scope, this.#batch, this.#handle);
  }

  /** Copies the bytes that are borrowed from the batch and releases the batch. It does this once, for all events with this origin. */
  detach(): void {
    if (this.#isDetached) {
      return;
    }
    this.#isDetached = true;
    const { headers, key, value, ...place } = this.record;
    this.#batch = new SingleRecordBatch({
      ...place,
      headers: headers.map(([name, bytes]) => [name, copyOf(bytes)] as const),
      key: copyOf(key),
      value: copyOf(value),
    });
    this.#handle = 0;
    this.#record = new PlacedRecord(this.#batch, 0);
  }
}

/**
 * An origin with additional members. It is a class of its own because an origin is made for each record, and most values have no such
 * members.
 */
class OriginWithExtra extends Origin {
  readonly #extra: Columns;

  constructor(extra: Columns, ...origin: ConstructorParameters<typeof Origin>) {
    super(...origin);
    this.#extra = extra;
  }

  override get extra(): Columns {
    return this.#extra;
  }

  override withKey(key: unknown): Origin {
    return super.withKey(key).withExtra(this.#extra);
  }

  override withRoute(route: Route): Origin {
    return super.withRoute(route).withExtra(this.#extra);
  }
}

/** A record of a batch. It is a class only because of `toJSON`: setting a method on each object would cost more than the object. */
class PlacedRecord implements RecordRef {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
  readonly timestamp: bigint;
  readonly headers: RecordHeaders;
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;

  constructor(batch: RecordBatch, handle: number) {
    this.topic = batch.topic;
    this.partition = batch.partition;
    this.offset = batch.offsetAt(handle);
    this.timestamp = batch.timestampAt(handle);
    this.headers = batch.headersAt(handle);
    this.key = batch.keyAt(handle);
    this.value = batch.valueAt(handle);
  }

  /** The coordinates and the timestamp, for the JSON form of an event. It has no bytes. */
  toJSON(): object {
    const { topic, partition, offset, timestamp } = this;
    return { topic, partition, offset: String(offset), timestamp: String(timestamp) };
  }
}

function copyOf(bytes: Uint8Array | null): Uint8Array | null {
  return bytes === null ? null : Buffer.from(bytes);
}
