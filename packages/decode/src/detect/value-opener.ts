import { Tombstone } from "../envelope/control-events.ts";
import type { EnvelopeFormat, EnvelopeScope, Route } from "../envelope/envelope.ts";
import { checkEventCost } from "../envelope/event-count.ts";
import { originalOf } from "../envelope/extra.ts";
import { Origin } from "../envelope/origin.ts";
import { memberText } from "../encoding/json/member-text.ts";
import { DecodeError } from "../errors.ts";
import type { CdcEvent } from "../event.ts";
import type { Engine } from "./engine.ts";
import { openWithFallback } from "./open-with-fallback.ts";
import { isPending, type Outcome } from "./pending.ts";
import type { RecordReading } from "./record-reading.ts";
import { noHints, type SideRoute, type SideScope } from "./route.ts";
import { isOfSchema, keyError } from "./schema-identity.ts";
import { SideDecoder } from "./side-decoder.ts";
import type { EnvelopeOverride } from "./side-decoder-cache.ts";
import { SideMessage } from "./side-message.ts";
import { SeveralValues } from "./side-result.ts";
import { listWith } from "../list-with.ts";

/** Reads the value of a record again for another envelope. */
export type ReadWithOverride = (override: EnvelopeOverride, reading: RecordReading) => unknown;

/** Creates events from the values of one topic. */
export class ValueOpener {
  readonly #engine: Engine;
  readonly #scope: EnvelopeScope;
  readonly #readWithOverride: ReadWithOverride;
  readonly #side: Pick<SideScope, "semantics" | "trustsSchemas" | "selection">;
  /** Reads messages inside of values. Created when the first one is met. */
  #inner: { readonly decoder: SideDecoder; readonly outerEnvelope: EnvelopeFormat } | null = null;

  constructor(
    engine: Engine,
    scope: EnvelopeScope,
    side: Pick<SideScope, "semantics" | "trustsSchemas" | "selection">,
    readWithOverride: ReadWithOverride,
  ) {
    this.#engine = engine;
    this.#scope = scope;
    this.#side = side;
    this.#readWithOverride = readWithOverride;
  }

  tombstones({ key, keyRoute, cursor }: RecordReading): readonly CdcEvent[] {
    const route = this.tombstoneRoute(keyRoute);
    return valuesOf(key).map((one) => new Tombstone(this.#origin(one, route, cursor)));
  }

  /** A tombstone has no value, so its format is that of its key. */
  tombstoneRoute({ framing, encoding }: SideRoute): Route {
    return { framing, encoding, envelope: this.#engine.noEnvelope.name, schemaId: null };
  }

  /** Whether a record with these routes holds one value with no message inside, and its key needs no check against its value. */
  isSimple(key: SideRoute, value: SideRoute): boolean {
    return value.envelopeFormat.inner === undefined && isOfSchema(key, value) && isPaired(key, value);
  }

  /** Opens a value of a record that {@link isSimple}. It becomes one event. */
  openSimple(reading: RecordReading, value: unknown): readonly CdcEvent[] {
    const { key, valueRoute, cursor } = reading;
    const origin = this.#origin(key, valueRoute, cursor);
    return valueRoute.envelopeFormat.open(value, origin) ?? this.#openWithFallback(reading, origin, null);
  }

  /** The events of any value, or what must be loaded first for a message inside of it. */
  open(reading: RecordReading, value: unknown): Outcome {
    const { key, keyRoute, valueRoute } = reading;
    if (!isOfSchema(keyRoute, valueRoute)) {
      throw keyError(keyRoute, valueRoute, this.#scope.topic);
    }
    if (!isPaired(keyRoute, valueRoute)) {
      throw unpaired(valueRoute);
    }
    return value instanceof SeveralValues || key instanceof SeveralValues
      ? this.#openEach(reading, value)
      : this.#openOne(reading, { key, value, nth: null });
  }

  #openOne(reading: RecordReading, { key, value, nth }: KeyedValue): Outcome {
    const { valueRoute: route, cursor } = reading;
    if (value === null && route.nullIsTombstone) {
      return listWith(new Tombstone(this.#origin(key, { ...route, envelope: this.#engine.noEnvelope.name }, cursor))); // null has no envelope
    }
    const origin = this.#origin(key, route, cursor);
    const message = route.envelopeFormat.inner?.(value, (name) => (nth === null ? textOfMember(reading, name) : null)) ?? null;
    if (message === null) {
      return route.envelopeFormat.open(value, origin) ?? this.#openWithFallback(reading, origin, nth);
    }
    const { limits } = this.#engine;
    const span = { bytes: this.#engine.buffer(message), start: 0, end: message.length };
    const result = this.#innerDecoder(originalOf(route.envelopeFormat)).read(
      new SideMessage("value", span, limits.maxMessageBytes, reading),
    );
    if (result.pending !== null) {
      return result.pending;
    }
    reading.rowRoute = result.route;
    return route.envelopeFormat.open(value, origin, result.take()) ?? this.#openWithFallback(reading, origin, nth);
  }

  #openWithFallback(reading: RecordReading, origin: Origin, nth: number | null): readonly CdcEvent[] {
    return openWithFallback(origin, reading.valueRoute, this.#engine.formats.envelopes, (override) => {
      const value = this.#readWithOverride(override, reading);
      return value instanceof SeveralValues && nth !== null ? value.values[nth] : value;
    });
  }

  /** Opens several values of one record. Each has its own key if there are as many keys. */
  #openEach(reading: RecordReading, several: unknown): Outcome {
    const events = listWith<CdcEvent>();
    const keys = valuesOf(reading.key);
    const values = valuesOf(several);
    checkEventCost(values.length, several instanceof SeveralValues ? several.byteLength : 0, this.#engine.limits);
    for (const [nth, value] of values.entries()) {
      const key = keys.length === values.length ? keys[nth] : (keys[0] ?? null);
      const opened = this.#openOne(reading, { key, value, nth });
      if (isPending(opened)) {
        return opened;
      }
      events.push(...opened);
    }
    return events;
  }

  #innerDecoder(outerEnvelope: EnvelopeFormat): SideDecoder {
    if (this.#inner?.outerEnvelope !== outerEnvelope) {
      const place = { topic: this.#scope.topic, side: "value", headerNames: [], announced: [], outerEnvelope, hinted: noHints } as const;
      this.#inner = { outerEnvelope, decoder: new SideDecoder(this.#engine, { ...place, ...this.#side }) };
    }
    return this.#inner.decoder;
  }

  #origin(key: unknown, route: Route, { batch, record }: RecordReading["cursor"]): Origin {
    return new Origin(key, route, this.#scope, batch, record);
  }
}

interface KeyedValue {
  readonly key: unknown;
  readonly value: unknown;
  /** The index of the value among the record's values. Null if it is the only one. */
  readonly nth: number | null;
}

function valuesOf(side: unknown): readonly unknown[] {
  return side instanceof SeveralValues ? side.values : [side];
}

/** The text of an outermost member, if the value has no schema and is JSON: no other encoding begins an object with a brace. */
function textOfMember({ valueRoute, cursor }: RecordReading, name: string): Uint8Array | null {
  const { valueBytes, valueStart, valueEnd } = cursor;
  return valueRoute.type === null && valueBytes !== null ? memberText(valueBytes, valueStart, valueEnd, name) : null;
}

/** Whether the key has the framing that the envelope of the value requires. */
function isPaired(key: SideRoute, { envelopeFormat, framing }: SideRoute): boolean {
  const { pairedFraming } = envelopeFormat;
  return pairedFraming === undefined || framing !== pairedFraming || key.framing === pairedFraming;
}

function unpaired({ envelope, framing }: SideRoute): DecodeError {
  return new DecodeError(
    "unknown-format",
    `expected a key in the framing ${framing} beside a value of the envelope ${envelope}, found a key in another framing`,
  );
}
