import { type Channel, channel } from "node:diagnostics_channel";
import * as opentelemetry from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { type Consumer, type ConsumerOptions, createConsumer, type DriverSession, type KafkaDriver } from "@cdckit/consumer";
import { memory, virtualClock } from "@cdckit/testkit";
import { AggregatorRegistry, Gauge, Registry } from "prom-client";
import { afterAll, beforeEach, describe, expect, test } from "vitest";

const spans = new InMemorySpanExporter();
const figures = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const reader = new PeriodicExportingMetricReader({ exporter: figures, exportIntervalMillis: 3_600_000 });
opentelemetry.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
opentelemetry.trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }));
opentelemetry.propagation.setGlobalPropagator({
  inject: () => {},
  extract: (context, carrier) => {
    const [, traceId, spanId] = String((carrier as Record<string, string>)["x-trace"]).split("-");
    return traceId === undefined || spanId === undefined
      ? context
      : opentelemetry.trace.setSpanContext(context, { traceId, spanId, traceFlags: 1, isRemote: true });
  },
  fields: () => ["x-trace"], // whatever the application has registered
});
opentelemetry.metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));

beforeEach(() => spans.reset());
afterAll(() => reader.shutdown());

const change = (id: number): string =>
  JSON.stringify({
    op: "c",
    before: null,
    after: { id },
    source: { connector: "postgresql", db: "shop", schema: "public", table: "orders", ts_ms: 1_700_000_000_000, lsn: 1 },
    ts_ms: 1,
  });

/** Consumes three records, and stops. */
async function consume(options: Partial<ConsumerOptions>, handlers: (consumer: Consumer, stop: () => void) => void): Promise<Consumer> {
  const driver = memory({ topics: { orders: 1 } });
  driver.broker.append(
    "orders",
    {
      key: '{"id":1}',
      value: change(1),
      headers: [["x-trace", Buffer.from("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")]],
    },
    { key: '{"id":2}', value: change(2) },
    { key: '{"id":3}', value: change(3) },
  );
  const consumer = createConsumer({ driver, groupId: "billing", topics: ["orders"], signals: false, ...options });
  handlers(consumer, () => void consumer.stop());
  await consumer.run().catch(() => {});
  return consumer;
}

function threeTimes(stop: () => void, handle: () => unknown): () => unknown {
  let calls = 0;
  return () => {
    calls++;
    if (calls === 3) {
      stop();
    }
    return handle();
  };
}

describe("OpenTelemetry", () => {
  test("gets a span and a duration for each handler call, by its conventions", async () => {
    await consume({ telemetry: { opentelemetry } }, (consumer, stop) =>
      consumer.on("public.orders", { create: threeTimes(stop, () => {}) as never }),
    );
    const [span] = spans.getFinishedSpans();
    expect(spans.getFinishedSpans()).toHaveLength(3);
    expect(span?.name).toBe("process orders");
    expect(span?.kind).toBe(opentelemetry.SpanKind.CONSUMER);
    expect(span?.attributes).toMatchObject({
      "messaging.system": "kafka",
      "messaging.operation.type": "process",
      "messaging.destination.name": "orders",
      "messaging.destination.partition.id": "0",
      "messaging.consumer.group.name": "billing",
      "messaging.kafka.offset": 0,
      "cdc.table": "orders",
      "cdc.op": "create",
    });
    await reader.forceFlush();
    const metrics = figures.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
    const names = metrics.map(({ descriptor }) => [descriptor.name, descriptor.unit]);
    expect(names).toContainEqual(["messaging.process.duration", "s"]);
    expect(names).toContainEqual(["messaging.client.consumed.messages", "{message}"]);
    expect(names).toContainEqual(["cdc.event.lag", "s"]);
  });

  test("gets its spans although the meter throws, and its figures although the tracer does", async () => {
    const fails = (): never => {
      throw new Error("no exporter");
    };
    const counted: number[] = [];
    const meter = (add: (value: number) => unknown): object => ({
      getMeter: () => ({ createCounter: () => ({ add }), createHistogram: () => ({ record: add }) }),
    });
    const spansAlone = { ...opentelemetry, metrics: meter(fails) } as never;
    const figuresAlone = {
      ...opentelemetry,
      trace: Object.assign(Object.create(opentelemetry.trace) as object, { getTracer: () => ({ startSpan: fails }) }),
      metrics: meter((value) => counted.push(value)),
    } as never;
    for (const api of [spansAlone, figuresAlone]) {
      const consumer = await consume({ telemetry: { opentelemetry: api } }, (made, stop) =>
        made.on("*", threeTimes(stop, () => {}) as never),
      );
      expect(consumer.health()).toMatchObject({ counts: { handled: 3 } });
      expect(consumer.health().reasons).toContainEqual(expect.stringMatching(/^telemetry failed \d+ times/));
    }
    expect(spans.getFinishedSpans()).toHaveLength(3); // of the first run
    expect(counted).toHaveLength(9); // calls, times and lags of the second one
  });

  test("keeps figures of so many tables apart, whatever names come, and spans with each", async () => {
    const driver = memory({ topics: { many: 1 } });
    const tables = Array.from({ length: 1_003 }, (_, i) => `table_${i}`);
    driver.broker.append("many", ...tables.map((table) => ({ value: change(1).replace('"table":"orders"', `"table":"${table}"`) })));
    let handled = 0;
    await consume({ telemetry: { opentelemetry }, driver, topics: ["many"] }, (consumer, stop) =>
      consumer.on("*", () => (++handled === tables.length ? stop() : undefined)),
    );
    expect(new Set(spans.getFinishedSpans().map(({ attributes }) => attributes["cdc.table"])).size).toBe(tables.length);
    await reader.forceFlush();
    const metrics =
      figures
        .getMetrics()
        .at(-1)
        ?.scopeMetrics.flatMap((scope) => scope.metrics) ?? [];
    for (const name of ["messaging.client.consumed.messages", "messaging.process.duration", "cdc.event.lag"]) {
      const points = metrics.find(({ descriptor }) => descriptor.name === name)?.dataPoints ?? [];
      const named = points
        .filter(({ attributes }) => attributes["messaging.destination.name"] === "many")
        .map(({ attributes }) => attributes["cdc.table"]);
      expect(named.filter((table) => String(table).startsWith("table_"))).toHaveLength(1_000);
      expect(named).toContain("_OTHER");
    }
  });

  test("has what a handler does inside of its span, also behind a promise", async () => {
    const tracer = opentelemetry.trace.getTracer("test");
    await consume({ telemetry: { opentelemetry } }, (consumer, stop) =>
      consumer.on(
        "*",
        threeTimes(stop, async () => {
          await new Promise((resolve) => setImmediate(resolve));
          tracer.startSpan("inside").end();
        }) as never,
      ),
    );
    const finished = spans.getFinishedSpans();
    const outer = finished.filter(({ name }) => name === "process orders").map((span) => span.spanContext().spanId);
    const inner = finished.filter(({ name }) => name === "inside").map(({ parentSpanContext }) => parentSpanContext?.spanId);
    expect(inner).toHaveLength(3);
    expect(new Set(inner)).toEqual(new Set(outer));
  });

  test("is not told a failed handler's message, which may hold a row", async () => {
    await consume({ telemetry: { opentelemetry }, failure: { retry: false } }, (consumer) =>
      consumer.on("*", () => {
        throw new TypeError("a secret");
      }),
    );
    const [span] = spans.getFinishedSpans();
    expect(span?.status.code).toBe(opentelemetry.SpanStatusCode.ERROR);
    expect(span?.attributes["error.type"]).toBe("TypeError");
    expect(JSON.stringify([span?.attributes, span?.status, span?.events])).not.toContain("secret");
  });

  test.each([
    ["E_FULL", "E_FULL"],
    ["the secret order 4711 is there already", "Error"],
    ["x".repeat(65), "Error"],
  ])("is told the code %j of a handler's error only if it is a word", async (code, type) => {
    await consume({ telemetry: { opentelemetry }, failure: { retry: false } }, (consumer) =>
      consumer.on("*", () => {
        throw Object.assign(new Error("a secret"), { code });
      }),
    );
    expect(spans.getFinishedSpans()[0]?.attributes["error.type"]).toBe(type);
  });

  test("is told the name of a handler's error only if it is a word", async () => {
    await consume({ telemetry: { opentelemetry }, failure: { retry: false } }, (consumer) =>
      consumer.on("*", () => {
        throw Object.assign(new Error("a secret"), { name: "the secret order 4711 is there already" });
      }),
    );
    expect(spans.getFinishedSpans()[0]?.attributes["error.type"]).toBe("_OTHER");
  });

  test("has no part in the span in which the consumer was started: it ends, and the consumer goes on", async () => {
    const tracer = opentelemetry.trace.getTracer("test");
    await tracer.startActiveSpan("bootstrap", async (bootstrap) => {
      await consume({ telemetry: { opentelemetry } }, (consumer, stop) => consumer.on("*", threeTimes(stop, () => {}) as never));
      bootstrap.end();
    });
    const [first, ...others] = spans.getFinishedSpans().filter(({ name }) => name === "process orders");
    expect(others).toHaveLength(2);
    expect([first, ...others].map((span) => span?.parentSpanContext)).toEqual([undefined, undefined, undefined]);
    expect(first?.links.map(({ context }) => context.spanId)).toEqual(["b7ad6b7169203331"]);
  });

  test("has no part in the request that moves a partition: a driver may begin to fetch there", async () => {
    const tracer = opentelemetry.trace.getTracer("test");
    const driver = memory({ topics: { orders: 1 } });
    driver.broker.append("orders", { value: change(1) });
    const spansOfSeeks: unknown[] = [];
    const connect: KafkaDriver["connect"] = async (...parts) => {
      const session = await driver.connect(...parts);
      const seek: DriverSession["seek"] = (assignment, offset) => {
        spansOfSeeks.push(opentelemetry.trace.getActiveSpan());
        return session.seek?.(assignment, offset) ?? null;
      };
      const get = (of: DriverSession, name: string | symbol): unknown => {
        const member: unknown = Reflect.get(of, name, of);
        return name === "seek" ? seek : typeof member === "function" ? member.bind(of) : member;
      };
      return new Proxy(session, { get });
    };
    const consumer = createConsumer({
      driver: { ...driver, connect },
      groupId: "billing",
      topics: ["orders"],
      signals: false,
      telemetry: { opentelemetry },
    });
    let calls = 0;
    const run = consumer.on("*", () => void calls++).run();
    await until(() => calls === 1);
    await tracer.startActiveSpan("request", async (request) => {
      await consumer.seek({ topic: "orders", partition: 0, offset: 0n });
      request.end();
    });
    await consumer.stop();
    await run;
    expect(spansOfSeeks).toEqual([undefined]);
  });

  test("gets the links to the producers also inside of the span of a client's instrumentation", async () => {
    const tracer = opentelemetry.trace.getTracer("kafkajs");
    const driver = memory({ topics: { orders: 1 } });
    const instrumented: KafkaDriver = {
      ...driver,
      connect: (...parts) =>
        tracer.startActiveSpan("poll", (poll) => {
          poll.end();
          return driver.connect(...parts);
        }),
    };
    for (const trace of ["00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "broken"]) {
      driver.broker.append("orders", { value: change(1), headers: [["x-trace", Buffer.from(trace)]] });
    }
    await consume({ telemetry: { opentelemetry }, driver: instrumented }, (consumer, stop) => {
      let calls = 0;
      consumer.on("*", () => void (++calls === 2 && stop()));
    });
    const handled = spans.getFinishedSpans().filter(({ name }) => name === "handle orders");
    expect(handled.map(({ links }) => links.map(({ context }) => context.spanId))).toEqual([["b7ad6b7169203331"], []]);
  });

  test("hears of a handler that never ends, when the stop has given it up", async () => {
    await consume({ telemetry: { opentelemetry }, shutdownTimeoutMs: 10 }, (consumer, stop) =>
      consumer.on("*", () => {
        stop();
        return new Promise(() => {});
      }),
    );
    expect(spans.getFinishedSpans().map(({ attributes, status }) => [attributes["error.type"], status.code])).toEqual([
      ["work-abandoned", opentelemetry.SpanStatusCode.ERROR],
    ]);
  });

  test("gets of a batch the attributes that all of its events have", async () => {
    const driver = memory({ topics: { orders: 1 } });
    driver.broker.append("orders", { value: change(1) }, { value: change(1).replace('"op":"c"', '"op":"r"') });
    await consume({ telemetry: { opentelemetry }, driver }, (consumer, stop) => consumer.on("public.orders", { batch: () => stop() }));
    const [span] = spans.getFinishedSpans();
    expect(span?.attributes).toMatchObject({ "messaging.batch.message_count": 2, "cdc.table": "orders" });
    expect(span?.attributes).not.toHaveProperty("cdc.op");
  });

  test("counts a batch as one span of so many messages", async () => {
    await consume({ telemetry: { opentelemetry } }, (consumer, stop) => consumer.on("public.orders", { batch: () => stop() }));
    expect(spans.getFinishedSpans().map(({ attributes }) => attributes["messaging.batch.message_count"])).toEqual([3]);
  });
});

test("Prometheus gets the figures of health() at each scrape", async () => {
  const registry = new Registry();
  const consumer = await consume({ telemetry: { prometheus: registry as never } }, (one, stop) =>
    one.on("*", threeTimes(stop, () => {}) as never),
  );
  const text = await registry.metrics();
  expect(text).toContain("# TYPE cdckit_consumer_handled_total counter");
  expect(text).toContain(`cdckit_consumer_handled_total{group="billing"} ${consumer.health().counts.handled}`);
  expect(text).toContain('cdckit_consumer_filtered_total{group="billing",reason="table-without-handler"} 0');
  expect(text).toContain('cdckit_consumer_live{group="billing"} 0');
});

async function valueOf(registry: Registry, line: string): Promise<number> {
  const found = (await registry.metrics()).split("\n").find((text) => text.startsWith(`cdckit_consumer_${line}`));
  return Number(found?.slice(found.lastIndexOf(" ") + 1));
}

test("Prometheus hears when the newest consumer of a group started, so that a restart is seen", async () => {
  const registry = new Registry();
  const clock = virtualClock();
  /** What a scrape says while the next consumer starts. */
  const startedAt = async (): Promise<number> => {
    const consumer = createConsumer({
      driver: memory({ topics: { orders: 1 }, clock }),
      groupId: "billing",
      topics: ["orders"],
      signals: false,
      clock,
      telemetry: { prometheus: registry as never },
    }).on("*", () => {});
    const run = consumer.run();
    const seconds = await valueOf(registry, 'start_time_seconds{group="billing"}');
    void consumer.stop();
    await clock.run(run);
    return seconds;
  };
  const madeAt = clock.wallMs() / 1_000;
  expect(await startedAt()).toBe(madeAt);
  await clock.advance(5_000);
  expect(await startedAt()).toBeGreaterThanOrEqual(madeAt + 5);
});

test("in a cluster of processes, prom-client joins them as consumers of one process: ready if all are", async () => {
  const processes = [new Registry(), new Registry()].map((registry) => {
    const driver = memory({ topics: { orders: 1 } });
    const telemetry = { prometheus: registry as never };
    const consumer = createConsumer({ driver, groupId: "billing", topics: ["orders"], signals: false, telemetry }).on("*", () => {});
    return { registry, consumer, run: consumer.run() };
  });
  const reports = await Promise.all(processes.map(({ registry }) => registry.getMetricsAsJSON()));
  await Promise.all(processes.map(({ consumer }) => consumer.stop()));
  await Promise.all(processes.map(({ run }) => run));
  const text = await AggregatorRegistry.aggregate(reports).metrics();
  expect(text).toContain('cdckit_consumer_live{group="billing"} 1\n'); // and not 2
  expect(text).toMatch(/cdckit_consumer_start_time_seconds\{group="billing"\} 1\d{9}(\.\d+)?\n/);
});

describe("Prometheus and several consumers", () => {
  test("of one group: counters are summed up, and lags of all partitions are there", async () => {
    const registry = new Registry();
    const driver = memory({ topics: { orders: 2 } });
    const make = (): Consumer =>
      createConsumer({
        driver,
        groupId: "billing",
        topics: ["orders"],
        signals: false,
        telemetry: { prometheus: registry as never },
        health: { lagIntervalMs: 5 },
      }).on("*", () => {});
    const members = [make(), make()];
    const running = members.map((member) => member.run());
    await until(() => members.every((member) => member.health().assigned.length === 1));
    driver.broker.append("orders", { value: change(1), partition: 0 }, { value: change(2), partition: 1 });
    await until(() => members.every((member) => member.health().assigned.every(({ lag, handledTo }) => lag === 0n && handledTo === 1n)));
    expect(await valueOf(registry, 'handled_total{group="billing"}')).toBe(2);
    expect(await valueOf(registry, 'lag_records{group="billing",topic="orders",partition="0"}')).toBe(0);
    expect(await valueOf(registry, 'lag_records{group="billing",topic="orders",partition="1"}')).toBe(0);
    expect(await valueOf(registry, 'ready{group="billing"}')).toBe(1);
    await members[0]?.stop();
    expect(await valueOf(registry, 'ready{group="billing"}')).toBe(0);
    const next = make();
    running.push(next.run());
    await until(() => next.health().ready);
    expect(await valueOf(registry, 'ready{group="billing"}')).toBe(1);
    expect(await valueOf(registry, 'live{group="billing"}')).toBe(1);
    expect(await valueOf(registry, 'handled_total{group="billing"}')).toBe(2);
    await Promise.all([...members, next].map((member) => member.stop()));
    await Promise.all(running);
  });

  test("one that is never started is none of its group, one that is refused is not live", async () => {
    const registry = new Registry();
    const telemetry = { prometheus: registry as never };
    const driver = memory({ topics: { orders: 1 } });
    const make = (): Consumer => createConsumer({ driver, groupId: "billing", topics: ["orders"], signals: false, telemetry });
    make(); // a mistake in what follows, and another one is made
    const consumer = make().on("*", () => {});
    expect(await registry.metrics()).not.toContain("{group=");
    const run = consumer.run();
    await until(() => consumer.health().ready);
    expect(await valueOf(registry, 'ready{group="billing"}')).toBe(1);
    await consumer.stop();
    await run;
    const streaming = make();
    const next = streaming.stream().next();
    await until(() => streaming.health().ready);
    expect(await valueOf(registry, 'ready{group="billing"}')).toBe(1);
    await streaming.stop();
    await next;
    const refused = make();
    await expect(refused.run()).rejects.toThrow("run() without a handler");
    expect(await valueOf(registry, 'live{group="billing"}')).toBe(0);
  });

  test("the metrics are there again with the next consumer after the registry was cleared, or has refused one", async () => {
    const registry = new Registry();
    const telemetry = { prometheus: registry as never };
    const running: [Consumer, Promise<void>][] = [];
    const start = async (): Promise<void> => {
      const driver = memory({ topics: { orders: 1 } });
      const consumer = createConsumer({ driver, groupId: "billing", topics: ["orders"], signals: false, telemetry }).on("*", () => {});
      running.push([consumer, consumer.run()]);
      await until(() => consumer.health().ready);
    };
    await start();
    registry.clear();
    await start();
    expect(await valueOf(registry, 'live{group="billing"}')).toBe(1);
    for (const [consumer, run] of running) {
      await consumer.stop();
      await run;
    }
    const other = new Registry();
    const foreign = new Gauge({ name: "cdckit_consumer_live", help: "of somebody else", registers: [other] });
    const makeBeside = (): Consumer =>
      createConsumer({
        driver: memory({ topics: { orders: 1 } }),
        groupId: "billing",
        topics: ["orders"],
        signals: false,
        telemetry: { prometheus: other as never },
      });
    expect(makeBeside).toThrow("telemetry.prometheus");
    expect(other.getSingleMetric("cdckit_consumer_live")).toBe(foreign);
    other.removeSingleMetric("cdckit_consumer_live");
    const beside = makeBeside().on("*", () => {});
    const run = beside.run();
    expect(await valueOf(other, 'handled_total{group="billing"}')).toBe(0);
    await beside.stop();
    await run;
  });
});

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("whoever subscribes to a channel is told; nobody else pays", async () => {
  const heard: string[] = [];
  const listen = (name: string): (() => void) => {
    const to: Channel = channel(`cdckit:consumer:${name}`);
    const hear = (): void => void heard.push(name);
    to.subscribe(hear);
    return () => {
      to.unsubscribe(hear);
    };
  };
  const unlisten = ["phase", "assigned", "process", "commit"].map(listen);
  await consume({}, (consumer, stop) => consumer.on("*", threeTimes(stop, () => {}) as never));
  for (const leave of unlisten) {
    leave();
  }
  expect(heard.filter((name) => name === "process")).toHaveLength(3);
  expect(heard).toEqual(expect.arrayContaining(["phase", "assigned", "commit"]));
  const before = heard.length;
  await consume({}, (consumer, stop) => consumer.on("*", threeTimes(stop, () => {}) as never));
  expect(heard).toHaveLength(before);
});
