import type { Columns, EncodingName, EnvelopeName, FramingName, RecordRef, ToObjectOptions } from "../event.ts";
import type { RecordHeaders } from "../record.ts";
import type { SchemaId } from "../schema-source.ts";
import { setProperty } from "../set-property.ts";
import { UNAVAILABLE } from "../values/unavailable.ts";
import type { EnvelopeScope } from "./envelope.ts";
import type { Origin } from "./origin.ts";
import { isPlainObject, showAs } from "./show.ts";

/**
 * The base of all events: their format, their key and the record that they came from. It has no fields, because V8 (up to Node 24) does not
 * inline the constructor of a base class that has fields, and that costs more for each event than all fields of the event.
 */
export abstract class RecordEvent {
  abstract readonly kind: string;
  abstract readonly key: unknown;
  protected abstract readonly origin: Origin;

  get framing(): FramingName {
    return this.origin.route.framing;
  }

  get encoding(): EncodingName {
    return this.origin.route.encoding;
  }

  get envelope(): EnvelopeName {
    return this.origin.route.envelope;
  }

  get schemaId(): SchemaId | null {
    return this.origin.route.schemaId;
  }

  get extra(): Columns | null {
    return this.origin.extra;
  }

  get record(): RecordRef {
    return this.origin.record;
  }

  protected get headers(): RecordHeaders {
    return this.origin.headers;
  }

  protected get scope(): EnvelopeScope {
    return this.origin.scope;
  }

  detach(): this {
    this.origin.detach();
    this.detachParts();
    return this;
  }

  /** Copies the bytes that the event itself still borrows from the batch. */
  protected detachParts(): void {}

  /** The fields of this kind of event, in the order in which they are shown. */
  protected abstract fields(): Record<string, unknown>;

  toObject(options: ToObjectOptions = {}): Record<string, unknown> {
    const { extra } = this;
    const { topic, partition, offset, timestamp } = this.record;
    const plain = {
      kind: this.kind,
      ...this.fields(),
      ...(extra === null ? {} : { extra }),
      framing: this.framing,
      encoding: this.encoding,
      envelope: this.envelope,
      schemaId: this.schemaId,
      record: { topic, partition, offset, timestamp },
    };
    return Object.hasOwn(options, "unavailable") ? withoutUnavailable(plain, options.unavailable) : plain;
  }
}

/** The same object with each UNAVAILABLE replaced, at any depth. The recursion is bounded, because the depth of a record is. */
function withoutUnavailable(object: Readonly<Record<string, unknown>>, replacement: unknown): Record<string, unknown> {
  const replaced: Record<string, unknown> = {};
  for (const name of Object.keys(object)) {
    setProperty(replaced, name, replace(object[name], replacement));
  }
  return replaced;
}

function replace(value: unknown, replacement: unknown): unknown {
  if (value === UNAVAILABLE) {
    return replacement;
  }
  if (Array.isArray(value)) {
    return value.map((item) => replace(item, replacement));
  }
  if (value instanceof Map) {
    return new Map([...value].map(([key, item]) => [replace(key, replacement), replace(item, replacement)]));
  }
  const isObject = typeof value === "object" && value !== null && isPlainObject(value);
  return isObject ? withoutUnavailable(value as Record<string, unknown>, replacement) : value;
}

showAs(RecordEvent.prototype, (event: RecordEvent) => event.toObject());
