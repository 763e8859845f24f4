/**
 * Spans and metrics by the messaging conventions of OpenTelemetry 1.3x: https://opentelemetry.io/docs/specs/semconv/messaging/kafka/
 * Their names are written out here, because the package of names moves them between minor releases.
 */
import type { CdcEvent } from "@cdckit/decode";
import { isError, nameOf, readText } from "../user-code/user-value.ts";
import { isMany, type Subject } from "./handler-observer.ts";
import type { HandlerSpan, Telemetry } from "./telemetry.ts";

/** The part of `@opentelemetry/api` that is used. Hand over the whole module: `import * as opentelemetry from "@opentelemetry/api"`. */
export interface OpenTelemetryApi {
  /** Makes spans, and links them to those of the producers. */
  readonly trace: {
    getTracer(name: string): OpenTelemetryTracer;
    getSpan(context: never): unknown;
    getSpanContext(context: never): unknown;
    setSpan(context: never, span: never): unknown;
    deleteSpan(context: never): unknown;
  };
  /** Makes the counters and histograms of a consumer. */
  readonly metrics: { getMeter(name: string): OpenTelemetryMeter };
  /** Makes a span the current one while a handler runs. */
  readonly context: { active(): unknown; with(context: never, run: () => unknown): unknown };
  /** Reads `traceparent` and what else the application has registered from the headers of a record. */
  readonly propagation: { extract(context: never, carrier: unknown): unknown; fields(): string[] };
}

interface OpenTelemetryTracer {
  startSpan(name: string, options: object, context?: never): OpenTelemetrySpan;
}

interface OpenTelemetrySpan {
  setStatus(status: { code: number; message?: string }): unknown;
  setAttribute(name: string, value: string): unknown;
  end(): void;
}

interface OpenTelemetryMeter {
  createCounter(name: string, options: object): { add(value: number, attributes: Attributes): void };
  createHistogram(name: string, options: object): { record(value: number, attributes: Attributes): void };
}

type Attributes = Record<string, string | number | boolean>;

const scope = "@cdckit/consumer";
const spanKindInternal = 0;
const spanKindConsumer = 4;
const statusError = 2;
/** Of so many tables, figures are kept apart. A topic may have thousands, their names come from its messages, and a reader keeps every series. */
const maxTables = 1_000;
/** As OpenTelemetry's own `error.type` says it. */
const anyOther = "_OTHER";
const boundariesS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** Calls what may throw. Undefined if it has thrown. */
type LookOn = <T>(call: () => T) => T | undefined;

/**
 * Reports handler calls to OpenTelemetry. Of what a handler throws, only the type is reported: the message may hold a row. Whoever exports figures
 * may fail where spans do not: neither takes the other away.
 */
export class OpenTelemetryObserver implements Telemetry {
  readonly #api: OpenTelemetryApi;
  readonly #groupId: string;
  readonly #wallMs: () => number;
  readonly #lookOn: LookOn;
  readonly #tracer: OpenTelemetryTracer;
  readonly #consumed: ReturnType<OpenTelemetryMeter["createCounter"]>;
  readonly #duration: ReturnType<OpenTelemetryMeter["createHistogram"]>;
  readonly #lag: ReturnType<OpenTelemetryMeter["createHistogram"]>;
  readonly #tables = new Set<string>();

  constructor(api: OpenTelemetryApi, groupId: string, wallMs: () => number, lookOn: LookOn) {
    this.#api = api;
    this.#groupId = groupId;
    this.#wallMs = wallMs;
    this.#lookOn = lookOn;
    this.#tracer = api.trace.getTracer(scope);
    const meter = api.metrics.getMeter(scope);
    const advice = { explicitBucketBoundaries: boundariesS };
    this.#consumed = meter.createCounter("messaging.client.consumed.messages", {
      unit: "{message}",
      description: "Events handed to handlers",
    });
    this.#duration = meter.createHistogram("messaging.process.duration", { unit: "s", description: "Time of handlers", advice });
    this.#lag = meter.createHistogram("cdc.event.lag", { unit: "s", description: "From the source's commit to the handler", advice });
  }

  /**
   * Whoever starts a consumer may be inside of a span: of a bootstrap, or of a request. It would be the parent of all that is ever handled,
   * long after it has ended.
   */
  detach<T>(start: () => T): T {
    const { context, trace } = this.#api;
    return context.with(trace.deleteSpan(context.active() as never) as never, start) as T; // it returns what `start` returns
  }

  begin(subject: Subject): HandlerSpan {
    const events = isMany(subject) ? subject : [subject];
    const [first] = events;
    const topic = first?.record.topic ?? "";
    const common = this.#attributesOf(topic, events);
    const span = this.#lookOn(() => this.#startSpan(topic, subject, common));
    const ofFigures = this.#withKnownTable(common);
    this.#lookOn(() => this.#consumed.add(isMany(subject) ? subject.length : 1, ofFigures));
    this.#lookOn(() => this.#recordLag(first, ofFigures));
    return {
      run: <T>(handle: () => T): T => (span === undefined ? handle() : this.#within(span, handle)),
      end: (durationMs, error) => {
        const failed = error === null ? {} : { "error.type": errorType(error) };
        this.#lookOn(() => this.#duration.record(durationMs / 1_000, { ...ofFigures, ...failed }));
        if (span !== undefined && error !== null) {
          this.#lookOn(() => markFailed(span, error));
        }
        span?.end();
      },
    };
  }

  #within<T>(span: OpenTelemetrySpan, handle: () => T): T {
    const { context, trace } = this.#api;
    return context.with(trace.setSpan(context.active() as never, span as never) as never, handle) as T; // it returns what `handle` returns
  }

  /**
   * If the client is instrumented itself, there is a `process` span already. Ours is then an inner span with another name, so that nothing
   * is counted twice. Otherwise ours is the `process` span. Ours is linked to the producers' spans in both cases: an instrumentation may see
   * stand-ins of the records, which have no headers.
   */
  #startSpan(topic: string, subject: Subject, common: Attributes): OpenTelemetrySpan {
    const active = this.#api.context.active();
    const isInside = this.#api.trace.getSpan(active as never) !== undefined;
    const [events, own] = isMany(subject)
      ? [subject, { "messaging.batch.message_count": subject.length }]
      : [[subject], ofMessage(subject)];
    const kind = isInside ? spanKindInternal : spanKindConsumer;
    const options = { kind, attributes: { ...common, ...own }, links: this.#linksOf(events) };
    return this.#tracer.startSpan(`${isInside ? "handle" : "process"} ${topic}`, options);
  }

  /** Of a batch, what all of its events have in common: a figure of many updates must not count as one of inserts because the first was one. */
  #attributesOf(topic: string, events: readonly CdcEvent[]): Attributes {
    const [first] = events;
    return {
      "messaging.system": "kafka",
      "messaging.operation.name": "process",
      "messaging.operation.type": "process",
      "messaging.destination.name": topic,
      "messaging.consumer.group.name": this.#groupId,
      ...(first === undefined ? {} : { "messaging.destination.partition.id": String(first.record.partition) }),
      ...sharedBy(events, "cdc.format", ({ encoding }) => encoding),
      ...sharedBy(events, "cdc.table", (event) => (event.kind === "change" ? event.table.name : undefined)),
      ...sharedBy(events, "cdc.op", (event) => (event.kind === "change" ? event.op : undefined)),
    };
  }

  #withKnownTable(attributes: Attributes): Attributes {
    const table = attributes["cdc.table"];
    if (typeof table !== "string" || this.#tables.has(table)) {
      return attributes;
    }
    if (this.#tables.size >= maxTables) {
      return { ...attributes, "cdc.table": anyOther };
    }
    this.#tables.add(table);
    return attributes;
  }

  /** `traceparent`, or what else the application's propagators read, as B3's headers. */
  #linksOf(events: readonly CdcEvent[]): readonly object[] {
    const links: object[] = [];
    const fields = this.#api.propagation.fields();
    const base = this.#api.trace.deleteSpan(this.#api.context.active() as never); // of a broken header, the span that is active would be read
    for (const { record } of events) {
      if (record.headers.some(([name]) => fields.includes(name))) {
        const carrier = Object.fromEntries(
          record.headers.map(([name, value]) => [name, value === null ? "" : Buffer.from(value).toString()]),
        );
        const context = this.#api.trace.getSpanContext(this.#api.propagation.extract(base as never, carrier) as never);
        if (context !== undefined) {
          links.push({ context });
        }
      }
    }
    return links;
  }

  #recordLag(first: CdcEvent | undefined, common: Attributes): void {
    const committedMs = first?.kind === "change" ? first.source.tsMs : null;
    if (committedMs !== null && committedMs !== undefined && committedMs > 0) {
      this.#lag.record(Math.max(0, this.#wallMs() - committedMs) / 1_000, common);
    }
  }
}

/** The attribute, if it has the same value for all of the events. */
function sharedBy(events: readonly CdcEvent[], name: string, valueOf: (event: CdcEvent) => string | undefined): Attributes {
  const [first] = events;
  const value = first === undefined ? undefined : valueOf(first);
  return value !== undefined && events.every((event) => valueOf(event) === value) ? { [name]: value } : {};
}

function ofMessage({ kind, record }: CdcEvent): Attributes {
  return {
    "messaging.kafka.offset": Number(record.offset),
    ...(kind === "tombstone" ? { "messaging.kafka.message.tombstone": true } : {}),
  };
}

function markFailed(span: OpenTelemetrySpan, error: unknown): void {
  span.setStatus({ code: statusError }); // no message: a handler's error may hold a row
  span.setAttribute("error.type", errorType(error));
}

/** A code is one word, as those of systems are, and so is a name. Anything else may hold a row, and would be a series of figures of its own for each row. */
function errorType(error: unknown): string {
  const words = [readText(error, "code"), isError(error) ? nameOf(error) : undefined];
  return words.find((word) => word !== undefined && /^[\w.:-]{1,64}$/.test(word)) ?? anyOther;
}
