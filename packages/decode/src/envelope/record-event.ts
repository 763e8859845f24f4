import type { EncodingName, EnvelopeName, FramingName, RecordRef } from "../event.ts";
import { type RecordHeaders, SingleRecordBatch } from "../record.ts";
import type { SchemaId } from "../schema-source.ts";
import type { EnvelopeScope, Origin } from "./envelope.ts";
import { showAs } from "./show.ts";

/** What all events share: their format, their key and the record that they came from. */
export abstract class RecordEvent {
  abstract readonly kind: string;
  readonly key: unknown;
  #origin: Origin;
  #recordRef: RecordRef | null = null;

  constructor(origin: Origin) {
    this.key = origin.key;
    this.#origin = origin;
  }

  get framing(): FramingName {
    return this.#origin.route.framing;
  }

  get encoding(): EncodingName {
    return this.#origin.route.encoding;
  }

  get envelope(): EnvelopeName {
    return this.#origin.route.envelope;
  }

  get schemaId(): SchemaId | null {
    return this.#origin.route.schemaId;
  }

  get record(): RecordRef {
    this.#recordRef ??= recordRef(this.#origin);
    return this.#recordRef;
  }

  protected get headers(): RecordHeaders {
    const { batch, record } = this.#origin;
    return this.#recordRef === null ? batch.headersAt(record) : this.#recordRef.headers;
  }

  protected get scope(): EnvelopeScope {
    return this.#origin.scope;
  }

  detach(): this {
    const { topic, partition, offset, timestamp, headers, key, value } = this.record;
    const copy = {
      topic,
      partition,
      offset,
      timestamp,
      headers: headers.map(([name, bytes]) => [name, copyOf(bytes)] as const),
      key: copyOf(key),
      value: copyOf(value),
    };
    this.#recordRef = copy;
    this.#origin = { ...this.#origin, batch: new SingleRecordBatch(copy), record: 0 };
    this.detachParts();
    return this;
  }

  /** Copies what the event itself still borrows. */
  protected detachParts(): void {}

  /** The fields of this kind of event, in the order in which they are shown. */
  protected abstract fields(): Record<string, unknown>;

  toObject(): Record<string, unknown> {
    const { topic, partition, offset, timestamp } = this.record;
    return {
      kind: this.kind,
      ...this.fields(),
      framing: this.framing,
      encoding: this.encoding,
      envelope: this.envelope,
      schemaId: this.schemaId,
      record: { topic, partition, offset, timestamp },
    };
  }
}

showAs(RecordEvent.prototype, (event: RecordEvent) => event.toObject());

function recordRef({ batch, record }: Origin): RecordRef {
  return {
    topic: batch.topic,
    partition: batch.partition,
    offset: batch.offsetAt(record),
    timestamp: batch.timestampAt(record),
    headers: batch.headersAt(record),
    key: batch.keyAt(record),
    value: batch.valueAt(record),
  };
}

function copyOf(bytes: Uint8Array | null): Uint8Array | null {
  return bytes === null ? null : Buffer.from(bytes);
}
