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
  };
  /** Makes the counters and histograms of a consumer. */
  readonly metrics: { getMeter(name: string): OpenTelemetryMeter };
  /** Makes a span the current one while a handler runs. */
  readonly context: { active(): unknown; with(context: never, run: () => unknown): unknown };
  /** Reads `traceparent` and what else the application has registered from the headers of a record. */
  readonly propagation: { extract(context: never, carrier: unknown): unknown };
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
const boundariesS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** Reports handler calls to OpenTelemetry. Of what a handler throws, only the type is reported: the message may hold a row. */
export class OpenTelemetryObserver implements Telemetry {
  readonly #api: OpenTelemetryApi;
  readonly #groupId: string;
  readonly #wallMs: () => number;
  readonly #tracer: OpenTelemetryTracer;
  readonly #consumed: ReturnType<OpenTelemetryMeter["createCounter"]>;
  readonly #duration: ReturnType<OpenTelemetryMeter["createHistogram"]>;
  readonly #lag: ReturnType<OpenTelemetryMeter["createHistogram"]>;

  constructor(api: OpenTelemetryApi, groupId: string, wallMs: () => number) {
    this.#api = api;
    this.#groupId = groupId;
    this.#wallMs = wallMs;
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

  begin(subject: Subject): HandlerSpan {
    const first = isMany(subject) ? subject[0] : subject;
    const topic = first?.record.topic ?? "";
    const common = this.#attributesOf(topic, first);
    const span = this.#startSpan(topic, subject, first, common);
    const active = this.#api.trace.setSpan(this.#api.context.active() as never, span as never);
    this.#consumed.add(isMany(subject) ? subject.length : 1, common);
    this.#recordLag(first, common);
    return {
      run: <T>(handle: () => T): T => this.#api.context.with(active as never, handle) as T,
      end: (durationMs, error) => {
        const failed = error === null ? {} : { "error.type": errorType(error) };
        this.#duration.record(durationMs / 1_000, { ...common, ...failed });
        if (error !== null) {
          span.setStatus({ code: statusError }); // no message: a handler's error may hold a row
          span.setAttribute("error.type", errorType(error));
        }
        span.end();
      },
    };
  }

  /**
   * If the client is instrumented itself, there is a `process` span already. Ours is then an inner span with another name, so that nothing
   * is counted twice. Otherwise ours is the `process` span, linked to the producers' spans.
   */
  #startSpan(topic: string, subject: Subject, first: CdcEvent | undefined, common: Attributes): OpenTelemetrySpan {
    const active = this.#api.context.active();
    const isInside = this.#api.trace.getSpan(active as never) !== undefined;
    const events = isMany(subject) ? subject : [subject];
    const attributes: Attributes = {
      ...common,
      ...(isMany(subject) ? { "messaging.batch.message_count": subject.length } : offsetOf(first)),
      ...(first?.kind === "tombstone" ? { "messaging.kafka.message.tombstone": true } : {}),
    };
    const options = { kind: isInside ? spanKindInternal : spanKindConsumer, attributes, links: isInside ? [] : this.#linksOf(events) };
    return this.#tracer.startSpan(`${isInside ? "handle" : "process"} ${topic}`, options);
  }

  #attributesOf(topic: string, first: CdcEvent | undefined): Attributes {
    return {
      "messaging.system": "kafka",
      "messaging.operation.name": "process",
      "messaging.operation.type": "process",
      "messaging.destination.name": topic,
      "messaging.consumer.group.name": this.#groupId,
      ...(first === undefined
        ? {}
        : { "messaging.destination.partition.id": String(first.record.partition), "cdc.format": first.encoding }),
      ...(first?.kind === "change" ? { "cdc.table": first.table.name, "cdc.op": first.op } : {}),
    };
  }

  #linksOf(events: readonly CdcEvent[]): readonly object[] {
    const links: object[] = [];
    for (const { record } of events) {
      const header = record.headers.find(([name]) => name === "traceparent");
      if (header !== undefined) {
        const carrier = Object.fromEntries(
          record.headers.map(([name, value]) => [name, value === null ? "" : Buffer.from(value).toString()]),
        );
        const context = this.#api.trace.getSpanContext(
          this.#api.propagation.extract(this.#api.context.active() as never, carrier) as never,
        );
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

function offsetOf(first: CdcEvent | undefined): Attributes {
  return first === undefined ? {} : { "messaging.kafka.offset": Number(first.record.offset) };
}

function errorType(error: unknown): string {
  return readText(error, "code") ?? (isError(error) ? nameOf(error) : "_OTHER");
}
